/**
 * The widget's two files, from the same source as the labextension: `widgets/static/panel.js` (an anywidget module)
 * and `panel.css`, with the licences of what is bundled beside them.
 */
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { holdWidgetBar, WIDGET } from './bundle-size.mjs';

const here = dirname(dirname(fileURLToPath(import.meta.url)));

await rm(WIDGET, { recursive: true, force: true });
await mkdir(WIDGET, { recursive: true });
const common = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  target: 'es2022',
  legalComments: 'external',
  metafile: true
};
const { metafile } = await build({
  ...common,
  entryPoints: ['src/widget.ts'],
  format: 'esm',
  outfile: join(WIDGET, 'panel.js')
});
await build({ ...common, entryPoints: ['style/index.css'], outfile: join(WIDGET, 'panel.css') });
await writeFile(join(WIDGET, 'THIRD-PARTY-LICENSES.txt'), await licences(Object.keys(metafile.inputs)));
await holdWidgetBar();

/** The licence file of every package that a bundled module comes from. */
async function licences(inputs) {
  const packages = new Set(inputs.map(packageOf).filter(Boolean));
  const notices = await Promise.all([...packages].sort().map(notice));
  return `panel.js contains the following packages.\n\n${notices.join('\n')}`;
}

function packageOf(input) {
  const [, path] = /.*node_modules\/(.*)/.exec(input) ?? [];
  return path?.split('/', path.startsWith('@') ? 2 : 1).join('/');
}

async function notice(name) {
  const folder = join(here, 'node_modules', name);
  const { version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const file = (await readdir(folder)).find(entry => /^licen[cs]e/i.test(entry));
  if (!file)
    throw new Error(`${name} ${version} (${license}) ships no licence file: add its text before it is bundled`);
  const text = await readFile(join(folder, file), 'utf8');
  return `${'-'.repeat(72)}\n${name} ${version} (${license})\n\n${text.trim()}\n`;
}
