/**
 * The words of the page in the language of its reader. English is complete; another language is an
 * object of the same shape, so the type check finds what it lacks. Texts with values are functions:
 * word order and plurals are each language's own affair.
 */
import { ENGLISH, type Messages } from './messages/english.ts';

const KEY = 'upcurve.language';
const LANGUAGES: Readonly<Record<string, Messages>> = { en: ENGLISH };

/** Chosen once: another language loads the page again. */
export const language: string = chosen();
export const t: Messages = LANGUAGES[language] ?? ENGLISH;

function chosen(): string {
  const kept = stored();
  if (kept !== null && kept in LANGUAGES) return kept;
  const wanted = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase());
  return wanted.find((tag) => tag in LANGUAGES) ?? 'en';
}

/** Storage may be forbidden. */
function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
