/**
 * A photograph as a logo, in a browser: the page redraws it before the upload. When the server
 * removes metadata from a picture, no pixel changes for the browser's decoder.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanPicture } from '../../src/client/trade/cleanPicture.ts';
import { segment } from '../api/images/samples.ts';
import { bundleText, openBrowser, visit } from './support.ts';

const ORIGIN = 'http://logo.test';
const SECRET = 'GPS 48.8583 N 2.2945 E';
const SCRIPT = `
  import { h, render } from 'preact';
  import { LogoField } from './src/web/trade/logoField.tsx';
  const choose = (read) => { globalThis.chosen = read; };
  render(h(LogoField, { logo: null, problem: null, choose }), document.body);
  globalThis.chosenBase64 = async () =>
    new Uint8Array(await globalThis.chosen.file.arrayBuffer()).toBase64?.() ??
    btoa(String.fromCharCode(...new Uint8Array(await globalThis.chosen.file.arrayBuffer())));
  const decoded = async (base64, type) => {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type }));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const context = canvas.getContext('2d');
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
    return { width: bitmap.width, height: bitmap.height, pixels: [...data].join() };
  };
  globalThis.decoded = decoded;
  globalThis.photoBase64 = async (type) => {
    const canvas = new OffscreenCanvas(12, 8);
    const context = canvas.getContext('2d');
    for (let at = 0; at < 12; at += 1) {
      context.fillStyle = 'hsl(' + at * 30 + ' 90% 50%)';
      context.fillRect(at, 0, 1, 8 - at / 2);
    }
    const blob = await canvas.convertToBlob({ type });
    return btoa(String.fromCharCode(...new Uint8Array(await blob.arrayBuffer())));
  };`;

/** Orientation 6 (turn right) and a text, as cameras write them. */
function withExif(jpeg: Buffer): Buffer {
  const tiff = Buffer.alloc(26);
  tiff.write('MM\0*', 0, 'latin1');
  tiff.set([8], 7);
  tiff.set([0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6], 8);
  const exif = segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), tiff, Buffer.from(SECRET)]));
  return Buffer.concat([jpeg.subarray(0, 2), exif, jpeg.subarray(2)]);
}

test('the place of a photograph stays in the page, and cleaning changes no pixel', async (t) => {
  const browser = await openBrowser(t);
  const script = await bundleText({ stdin: { contents: SCRIPT, loader: 'ts', resolveDir: '.' } });
  const { page } = await visit(browser, ORIGIN, { viewport: { width: 400, height: 450 } });
  await page.route(`${ORIGIN}/**`, (route) =>
    new URL(route.request().url()).pathname === '/script'
      ? route.fulfill({ contentType: 'text/javascript', body: script })
      : route.fulfill({
          contentType: 'text/html',
          body: '<!doctype html><body></body><script type="module" src="/script"></script>',
        }),
  );
  await page.goto(ORIGIN);
  await page.locator('input[type=file]').waitFor({ state: 'attached' });
  const plain = Buffer.from(await page.evaluate<string>(`photoBase64('image/jpeg')`), 'base64');
  const photograph = withExif(plain);
  const decoded = (bytes: Uint8Array, type: string) =>
    page.evaluate(`decoded('${Buffer.from(bytes).toString('base64')}', '${type}')`);

  const cleaned = cleanPicture(photograph, 'image/jpeg');
  assert.ok(cleaned !== null && !Buffer.from(cleaned).includes(SECRET));
  const upright = await decoded(photograph, 'image/jpeg');
  assert.deepEqual(await decoded(cleaned, 'image/jpeg'), upright);
  assert.equal(Reflect.get(Object(upright), 'width'), 8, 'it stands upright');
  const picture = Buffer.from(await page.evaluate<string>(`photoBase64('image/png')`), 'base64');
  assert.deepEqual(
    cleanPicture(picture, 'image/png'),
    new Uint8Array(picture),
    "a browser's PNG hides nothing",
  );

  const file = { name: 'me.jpg', mimeType: 'image/jpeg', buffer: photograph };
  await page.locator('input[type=file]').setInputFiles(file);
  await page.waitForFunction('globalThis.chosen !== undefined');
  const uploaded = Buffer.from(await page.evaluate<string>('chosenBase64()'), 'base64');
  assert.ok(uploaded.length > 100 && !uploaded.includes(SECRET) && !uploaded.includes('Exif'));
  assert.equal(Reflect.get(Object(await decoded(uploaded, 'image/jpeg')), 'height'), 12);
  assert.deepEqual(
    cleanPicture(uploaded, 'image/jpeg'),
    new Uint8Array(uploaded),
    'the server keeps it as it is',
  );
});
