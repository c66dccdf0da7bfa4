/** Names of tokens that would mislead a reader, for the server and the page alike. */

const CONTROL = /\p{Cc}/u;
const BIDIRECTIONAL = /\p{Bidi_Control}/u;
/** Letters, digits, punctuation and symbols; a mark alone has nothing to stand on. */
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;
/** Of these the ones that draw nothing: fillers, and the empty braille pattern. */
const BLANK = /[\p{Default_Ignorable_Code_Point}\u2800]/u;

/** What is wrong with the characters of a name, and the sentence that says so in English. */
export const NAME_FAULTS = {
  control: 'A name has no control characters.',
  bidirectional: 'A name has no characters that turn the direction of text.',
  invisible: 'A name has at least one visible character.',
} as const;

/** null: nothing is wrong with them. */
export function unreadableName(name: string): keyof typeof NAME_FAULTS | null {
  if (CONTROL.test(name)) return 'control';
  if (BIDIRECTIONAL.test(name)) return 'bidirectional';
  const isVisible = [...name].some((letter) => VISIBLE.test(letter) && !BLANK.test(letter));
  return isVisible ? null : 'invisible';
}
