/** A picture made small enough for a frame: at most 1568 px a side, and well below the frame's 1 MiB. */
import { t } from '../../i18n';

const LONGEST_SIDE = 1568;
/** Characters of the data URL; base64 makes 3 bytes 4 characters. */
const LARGEST = 900_000;
const KINDS: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif']);

export class PictureRefused extends Error {}

/** The picture as a PNG or JPEG data URL; `PictureRefused` says why not. */
export async function shrink(file: Blob): Promise<string> {
  if (!KINDS.has(file.type)) {
    throw new PictureRefused(t('Only PNG, JPEG, WebP and GIF pictures can be attached.'));
  }
  const bitmap = await readBitmap(file);
  try {
    let scale = Math.min(1, LONGEST_SIDE / Math.max(bitmap.width, bitmap.height));
    const png = file.type !== 'image/jpeg' ? draw(bitmap, scale).toDataURL('image/png') : '';
    if (png && png.length <= LARGEST) {
      return png; // screenshots stay sharp
    }
    for (let round = 0; round < 4; round++, scale *= 0.75) {
      const canvas = draw(bitmap, scale);
      for (const quality of [0.85, 0.7]) {
        const jpeg = canvas.toDataURL('image/jpeg', quality);
        if (jpeg.length <= LARGEST) {
          return jpeg;
        }
      }
    }
  } finally {
    bitmap.close();
  }
  throw new PictureRefused(t('This picture stays too large, even made smaller.'));
}

async function readBitmap(file: Blob): Promise<ImageBitmap> {
  try {
    return await createImageBitmap(file);
  } catch {
    throw new PictureRefused(t('This picture cannot be read.'));
  }
}

function draw(bitmap: ImageBitmap, scale: number): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const pen = canvas.getContext('2d');
  if (!pen) {
    throw new PictureRefused(t('This picture cannot be read.'));
  }
  pen.fillStyle = 'white'; // what is transparent would be black in a JPEG
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return canvas;
}
