/**
 * The words of the page in the language of its reader. English is complete; another language is an
 * object of the same shape, so the type check finds what it lacks. Texts with values are functions:
 * word order is each language's own affair. Other languages are files of their own, which only
 * their readers load: they import types only, or what they share would be a third file.
 */
import { type Language, language } from './language.ts';
import { ENGLISH, type Messages } from './messages/english.ts';

const OTHERS: Readonly<Record<Exclude<Language, 'en'>, () => Promise<Messages>>> = {
  de: async () => (await import('./messages/german.ts')).GERMAN,
  es: async () => (await import('./messages/spanish.ts')).SPANISH,
};

export const t: Messages = language === 'en' ? ENGLISH : await loaded(language);

/** English where the file cannot be loaded: a page in the wrong language beats none. */
async function loaded(wanted: Exclude<Language, 'en'>): Promise<Messages> {
  try {
    return await OTHERS[wanted]();
  } catch {
    return ENGLISH;
  }
}

/** `#` stands for the number: `{ one: '# buy', other: '# buys' }`. */
type Forms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & { readonly other: string };

const rules = new Intl.PluralRules(language);
const numbers = new Intl.NumberFormat(language);

/** Counted things: each language has its own plurals, and its own separators in numbers. */
export function counted(count: number, forms: Forms): string {
  return (forms[rules.select(count)] ?? forms.other).replace('#', numbers.format(count));
}
