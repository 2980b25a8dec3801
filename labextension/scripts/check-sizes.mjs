import { holdLabextensionBar, holdWidgetBar } from './bundle-size.mjs';

await holdWidgetBar();
await holdLabextensionBar();
