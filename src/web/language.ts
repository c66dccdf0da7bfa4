/**
 * The language of the page: the reader's choice, else the first of the browser's languages that the
 * page has. Numbers and dates follow it; amounts are typed as they are shown.
 */
import { readStored, writeStored } from './stored.ts';

const KEY = 'language';

/** Each language by its name in that language, for people who read no other. */
export const LANGUAGES = [
  { tag: 'en', name: 'English' },
  { tag: 'de', name: 'Deutsch' },
  { tag: 'es', name: 'Español' },
] as const;
export type Language = (typeof LANGUAGES)[number]['tag'];

const FIRST: Language = 'en';

/** Does not change while the page is open. */
export const language: Language =
  languageOf(readStored(KEY)) ??
  navigator.languages.map(languageOf).find((known) => known !== null) ??
  FIRST;

/** The reader's own kind of it, as `de-AT`: how dates are written differs. */
export const locale: string =
  navigator.languages.find((tag) => languageOf(tag) === language) ?? language;

/** For the next time the page is loaded: texts are read once. */
export function keepLanguage(chosen: Language): void {
  writeStored(KEY, chosen);
}

/** The language of a tag such as `de-AT`. */
function languageOf(tag: string | null): Language | null {
  const wanted = tag?.split('-')[0]?.toLowerCase() ?? '';
  return LANGUAGES.find((known) => known.tag === wanted)?.tag ?? null;
}
