/** What a person's browser has to load: the gzipped size of the built files against their bars. */
import { readFile, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const KB = 1024;
const packageFolder = fileURLToPath(new URL('../../cashcode_jupyter/', import.meta.url));
export const WIDGET = join(packageFolder, 'widgets', 'static');
const LABEXTENSION = join(packageFolder, 'labextension', 'static');

export const holdWidgetBar = () =>
  holdBar(
    'widget',
    120,
    ['panel.js', 'panel.css'].map(name => join(WIDGET, name))
  );

/** All of its JavaScript, also what is loaded later only. */
export async function holdLabextensionBar() {
  const scripts = (await readdir(LABEXTENSION)).filter(name => name.endsWith('.js')).sort();
  await holdBar(
    'labextension',
    150,
    scripts.map(name => join(LABEXTENSION, name))
  );
}

/** Prints a line for each file and the sum; throws when the sum is above the bar. */
async function holdBar(title, barKb, files) {
  let sum = 0;
  for (const file of files) {
    const bytes = await readFile(file);
    const gzipped = gzipSync(bytes, { level: 9 }).length;
    sum += gzipped;
    console.log(`  ${basename(file)}: ${kb(bytes.length)}, gzipped ${kb(gzipped)}`);
  }
  const verdict = `${title}: ${kb(sum)} gzipped of ${barKb} KB`;
  if (sum > barKb * KB) {
    throw new Error(`${verdict}: too large`);
  }
  console.log(verdict);
}

const kb = bytes => `${(bytes / KB).toFixed(1)} KB`;
