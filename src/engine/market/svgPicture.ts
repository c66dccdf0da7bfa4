/**
 * The drawing of pictures to share, as SVG of 1200 × 630: of a token on the server, and of a profit
 * on the page. A stranger chooses a name: only numbers of ours and escaped text reach the SVG.
 */
import { escapeMarkup } from '../runtime/markup.ts';
import type { CardColours } from './mainColour.ts';
import { graphemesOf } from './shownText.ts';

export const WIDTH = 1200;
export const HEIGHT = 630;

export const COLOURS = {
  text: '#f2f5f8',
  dim: '#a7b1bd',
  up: '#2ebd85',
  down: '#f6465d',
} as const;

/** `family`: typefaces, as CSS names them. */
export function svgPicture(
  parts: readonly string[],
  { ground, accent }: CardColours,
  family: string,
): string {
  const size = `width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}"`;
  const font = `font-family="${escapeMarkup(family)}"`;
  const frame = [rect(0, 0, WIDTH, HEIGHT, ground), rect(0, 0, WIDTH, 10, accent)];
  const all = [...frame, ...parts].join('');
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${font}>${all}</svg>`;
}

/** `href`: a picture that is round already; null: letters stand for it. */
export function roundLogo(
  { x, y, size }: { readonly x: number; readonly y: number; readonly size: number },
  { href, letters }: { readonly href: string | null; readonly letters: string },
  { panel, accent }: CardColours,
): string {
  const half = size / 2;
  const [middle, ring] = [x + half, `stroke="${accent}" stroke-width="${size / 28}"`];
  const circle = `<circle cx="${middle}" cy="${y + half}" r="${half}" fill="${panel}" ${ring}/>`;
  const place = `x="${x}" y="${y}" width="${size}" height="${size}"`;
  if (href !== null) return `${circle}<image ${place} href="${escapeMarkup(href)}"/>`;
  const font = letters.length > 1 ? size * 0.4 : size / 2;
  const bold = 'font-weight="700" text-anchor="middle"';
  return circle + words(letters, middle, y + half + font * 0.36, font, accent, bold);
}

/** As large as `width` allows, `size` at most. */
export function fitted(text: string, size: number, width: number): number {
  return Math.min(size, Math.floor(width / Math.max(widthOf(graphemesOf(text)), 1)));
}

/** In sizes of the font: the bold letters of the typefaces are nowhere wider than this says. */
export function widthOf(characters: readonly string[]): number {
  return characters.reduce((sum, character) => sum + widthOfGrapheme(character), 0);
}

/** An emoji of several code points is drawn as one. */
function widthOfGrapheme(grapheme: string): number {
  if (/\p{Extended_Pictographic}|\p{Regional_Indicator}/u.test(grapheme)) return 1.3;
  return Array.from(grapheme, widthOfOne).reduce((sum, width) => sum + width, 0);
}

function widthOfOne(character: string): number {
  if (/\p{M}|\p{Cf}/u.test(character)) return 0;
  if (/[ijlI.,:;'|!¡()[\]\s]/u.test(character)) return 0.48;
  if (/[mwMWQ@%…]/u.test(character)) return 1.12;
  if (/[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef]/u.test(character)) return 1;
  if (/\p{Lu}/u.test(character)) return 0.86;
  return /\p{Script=Arabic}/u.test(character) ? 1.05 : 0.72;
}

export function rect(x: number, y: number, width: number, height: number, fill: string, more = '') {
  const size = `width="${width.toFixed(1)}" height="${height}"`;
  return `<rect x="${x}" y="${y}" ${size} fill="${fill}" ${more}/>`;
}

export function words(
  text: string,
  x: number,
  y: number,
  size: number,
  fill: string,
  more = '',
): string {
  const place = `x="${x}" y="${y}" font-size="${size}" fill="${fill}"`;
  return `<text ${place} ${more}>${escapedXml(text)}</text>`;
}

/** Text for elements of XML, which also forbids most control characters and half surrogates. */
function escapedXml(text: string): string {
  return escapeMarkup(
    text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, ''),
  );
}
