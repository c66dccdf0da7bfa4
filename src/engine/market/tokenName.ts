/**
 * Names of tokens that would mislead a reader, for the server and the page alike. A name with a
 * character that draws nothing looks like another token's name, so such characters are refused
 * wherever they stand; the joiners that a script or an emoji is written with stay.
 */

const CONTROL = /\p{Cc}/u;
const BIDIRECTIONAL = /\p{Bidi_Control}/u;
const BIDIRECTIONAL_ALL = /\p{Bidi_Control}/gu;
/** U+FFFD stands for bytes that were lost; the other characters are unknown to every font. */
const UNKNOWN = /[\ufffd\p{Cn}\p{Co}\p{Cs}]/u;
/**
 * Draws nothing, or a space that is not told from another one: format characters, fillers, line
 * separators, the empty braille pattern. The ideographic space is wide enough to be seen.
 */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Zl}\p{Zp}\u2800]|(?![ \u3000])\p{Zs}/u;
/** Letters, digits, punctuation and symbols; a mark alone has nothing to stand on. */
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** The signs that take the vowel from a letter, of the scripts that are written with joiners. */
const VIRAMA =
  '[\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d3b\\u0d3c\\u0d4d\\u0dca]';
/** Beside one, U+200C and U+200D choose how letters are joined. */
const INDIC_JOINER = `(?<=${VIRAMA})[\\u200c\\u200d]|[\\u200c\\u200d](?=${VIRAMA})`;
/** Persian, Urdu and others part the letters of one word with U+200C. */
const ARABIC_JOINER = '(?<=\\p{Script=Arabic}\\p{M}*)\\u200c(?=\\p{Script=Arabic})';
const JOINER = new RegExp(`${INDIC_JOINER}|${ARABIC_JOINER}`, 'gu');
/** Unicode's list: those made of several with U+200D, styles, keys and flags included. */
const EMOJI = /\p{RGI_Emoji}/gv;

/** Faults of the characters of a name, each with its English sentence. */
export const NAME_FAULTS = {
  control: 'A name has no control characters.',
  bidirectional: 'A name has no characters that change the direction of text.',
  unknown: 'A name has no replacement characters (U+FFFD) and no unassigned or private ones.',
  hidden: 'A name has no characters that cannot be seen, such as a zero width space.',
  invisible: 'A name has at least one visible character.',
} as const;

/** null: nothing is wrong with them. */
export function unreadableName(name: string): keyof typeof NAME_FAULTS | null {
  if (CONTROL.test(name)) return 'control';
  if (changesDirection(name)) return 'bidirectional';
  if (UNKNOWN.test(name)) return 'unknown';
  if (!VISIBLE.test([...name].filter((letter) => !UNSEEN.test(letter)).join('')))
    return 'invisible';
  return UNSEEN.test(name.replaceAll(EMOJI, ' ').replaceAll(JOINER, '')) ? 'hidden' : null;
}

/**
 * The name that an asset id spells, for tokens without a record of their launch; null where its
 * bytes are no text that a launch would take. A label of CIP-67 before the name is left out.
 */
export function nameInId(asset: string): string | null {
  const hex = (asset.split('.')[1] ?? '').replace(/^0[0-9a-f]{6}0(?=[0-9a-f]{2})/, '');
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
  try {
    const name = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return unreadableName(name) === null ? name : null;
  } catch {
    // The bytes are no UTF-8.
    return null;
  }
}

/** For descriptions that other launchpads took: without the characters that are refused here. */
export function withoutDirections(text: string): string {
  return text.replaceAll(BIDIRECTIONAL_ALL, '');
}

/**
 * Whether a name or description changes the direction of text: such text can show amounts and words
 * in another order.
 */
export function changesDirection(text: string): boolean {
  return BIDIRECTIONAL.test(text);
}
