import { plugin } from './lab/plugin';

export default plugin;
