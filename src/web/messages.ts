/**
 * The texts of the page in the reader's language. English is complete and gives the types. Each
 * other language is a JSON file of the same shape, loaded only by its readers.
 */
import { type Language, language } from './language.ts';
import { ENGLISH } from './messages/english.ts';
import { type Texts, textsOf } from './messages/texts.ts';

const TRANSLATIONS: Readonly<Record<Exclude<Language, 'en'>, () => Promise<unknown>>> = {
  de: async () => (await import('./messages/de.json', { with: { type: 'json' } })).default,
  es: async () => (await import('./messages/es.json', { with: { type: 'json' } })).default,
};

export type Messages = Texts<typeof ENGLISH>;
export const t: Messages = textsOf(ENGLISH, await translation(), language);

/** null: English, also where the file cannot be loaded. */
async function translation(): Promise<unknown> {
  if (language === 'en') return null;
  try {
    return await TRANSLATIONS[language]();
  } catch {
    // English is shown instead.
    return null;
  }
}
