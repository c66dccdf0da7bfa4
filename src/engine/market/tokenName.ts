/** Names of tokens that would mislead a reader, for the server and the page alike. */

const CONTROL = /\p{Cc}/u;
const BIDIRECTIONAL = /\p{Bidi_Control}/u;
/** Letters, digits, punctuation and symbols; a mark alone has nothing to stand on. */
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;
/** Of these the ones that draw nothing: fillers, and the empty braille pattern. */
const BLANK = /[\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Describes the fault in the characters of a name, as a sentence; null: the name is valid. */
export function unreadableName(name: string): string | null {
  if (CONTROL.test(name)) return 'A name has no control characters.';
  if (BIDIRECTIONAL.test(name)) return 'A name has no characters that turn the direction of text.';
  const isVisible = [...name].some((letter) => VISIBLE.test(letter) && !BLANK.test(letter));
  return isVisible ? null : 'A name has at least one visible character.';
}
