/**
 * Names and descriptions that strangers put on a chain, made fit to stand among our own words: on
 * one line, of bounded length, without characters that reorder, hide or overprint their neighbours.
 * The result is still text: escape it for the language it goes into.
 */

/** Marks on one letter; living languages need three. More overprint the lines above. */
const MARKS = /(\p{M}{3})\p{M}+/gu;
/** Line ends and control characters stand for a space. */
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}\p{Zs}]+/gu;
/**
 * Invisible: direction overrides, tags, half surrogates, private and unassigned characters. The two
 * that join and part letters stay: Persian, Hindi and emoji are written with them.
 */
const UNSEEN = /(?![\u200c\u200d])[\p{Cf}\p{Cs}\p{Co}\p{Cn}]/gu;
/** Code units read for each character that is wanted: the rest are marks without end. */
const READ_FACTOR = 16;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** At most `most` characters as readers count them; the last is an ellipsis where text was cut. */
export function shownText(text: string, most: number): string {
  const read = text.slice(0, most * READ_FACTOR);
  const plain = read
    .normalize('NFC')
    .replace(UNSEEN, '')
    .replace(MARKS, '$1')
    .replace(BREAKS, ' ')
    .trim();
  const characters = graphemesOf(plain);
  if (characters.length <= most && read.length === text.length) return plain;
  return `${characters.slice(0, most - 1).join('')}…`;
}

/** Each is one character for a reader. */
export function graphemesOf(text: string): string[] {
  return Array.from(graphemes.segment(text), ({ segment }) => segment);
}
