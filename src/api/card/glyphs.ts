/**
 * Which characters of a text the typefaces have. Each one is drawn alone and compared with a
 * character that no typeface has: the renderer says so itself, and no table of ours can differ.
 */
import { escapeMarkup } from '../../engine/runtime/markup.ts';

interface Pixels {
  readonly width: number;
  /** Four bytes a pixel. */
  readonly pixels: Uint8Array;
}

/** Wider than the widest character at this size. */
const CELL = 40;
const SIZE = 20;
/** A noncharacter of Unicode, drawn as the box of what is missing. */
const NOWHERE = '\u{1fffe}';
const BASE = 'o';
/** Joiners and variation selectors draw nothing; each typeface may lack them. */
const INVISIBLE = /\u200c|\u200d|\ufe0e|\ufe0f/u;
const ASCII = /^[ -~]*$/;

/** Characters of `text` that would be drawn as an empty box. */
export function missingCharacters(text: string, draw: (svg: string) => Pixels): Set<string> {
  if (ASCII.test(text)) return new Set();
  const asked = [...new Set(text)].filter((each) => !ASCII.test(each) && !INVISIBLE.test(each));
  const cells = [NOWHERE, BASE + NOWHERE, ...asked.map(cellText)];
  const drawn = draw(sheet(cells));
  const [box, markBox] = [cellOf(drawn, 0), cellOf(drawn, 1)];
  const isMissing = (character: string, index: number) =>
    cellOf(drawn, index + 2).equals(isMark(character) ? markBox : box);
  return new Set(asked.filter(isMissing));
}

function isMark(character: string): boolean {
  return /\p{M}/u.test(character);
}

/** A mark stands on a letter; alone, a renderer may give it another base. */
function cellText(character: string): string {
  return isMark(character) ? BASE + character : character;
}

function sheet(cells: readonly string[]): string {
  const texts = cells.map(
    (text, index) =>
      `<svg y="${index * CELL}" width="${CELL}" height="${CELL}"><text x="4" y="28" ` +
      `font-size="${SIZE}" direction="ltr">${escapeMarkup(text)}</text></svg>`,
  );
  const size = `width="${CELL}" height="${cells.length * CELL}"`;
  const head = `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-weight="700">`;
  return `${head}${texts.join('')}</svg>`;
}

/** Cells stand below each other, so each is one run of bytes. */
function cellOf({ width, pixels }: Pixels, index: number): Buffer {
  const bytes = width * CELL * 4;
  return Buffer.from(pixels.buffer, pixels.byteOffset + index * bytes, bytes);
}
