/**
 * What a launch may say, checked while it is typed. The server checks the same again and has the
 * last word; here it is said beside the field, before anything is uploaded. Source: api.md 3.
 */
import { unreadableName } from '../../engine/market/tokenName.ts';

const MAX_NAME_CHARACTERS = 16;
const MAX_NAME_BYTES = 32;
export const MAX_DESCRIPTION_CHARACTERS = 500;
const MAX_URL_BYTES = 200;
const CONTROL = /\p{Cc}/u;
const TICKER = /^[A-Za-z0-9]{1,6}$/;

export const SOCIALS = ['twitter', 'telegram', 'discord', 'website'] as const;

export type Problem = string | null;

export function nameProblem(text: string): Problem {
  const name = text.trim();
  const characters = [...name].length;
  if (characters === 0) return 'Enter a name.';
  if (characters > MAX_NAME_CHARACTERS) {
    return `A name has at most ${MAX_NAME_CHARACTERS} characters; this has ${characters}.`;
  }
  if (!name.isWellFormed() || bytesOf(name) > MAX_NAME_BYTES) {
    return `A name has at most ${MAX_NAME_BYTES} bytes of UTF-8; this has ${bytesOf(name)}.`;
  }
  return unreadableName(name);
}

export function tickerProblem(text: string): Problem {
  if (text === '') return 'Enter a ticker.';
  return TICKER.test(text) ? null : 'A ticker has 1 to 6 letters and digits, A to Z and 0 to 9.';
}

export function descriptionProblem(text: string): Problem {
  const characters = [...text].length;
  if (characters > MAX_DESCRIPTION_CHARACTERS) {
    return `At most ${MAX_DESCRIPTION_CHARACTERS} characters; this has ${characters}.`;
  }
  return text.isWellFormed() ? null : 'This holds half a character.';
}

/** Empty is fine. */
export function linkProblem(text: string): Problem {
  if (text === '') return null;
  if (bytesOf(text) > MAX_URL_BYTES) return `A link has at most ${MAX_URL_BYTES} bytes.`;
  const url = text.isWellFormed() && !CONTROL.test(text) ? URL.parse(text) : null;
  const isWeb = url !== null && /^https?:$/.test(url.protocol);
  return isWeb ? null : 'Enter the full link, starting with https://.';
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
