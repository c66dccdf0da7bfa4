/**
 * Texts with values, and counted things. In a text, `{name}` stands for a value. A pair `{ one,
 * other }` (and `few`, `many` and so on where a language has them) is a counted thing: `#` stands
 * for the number, written with the separators of the language.
 */

/** The names of the values in a text. */
type Names<T extends string> = T extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never;
type Values<N extends string> = Readonly<Record<N, string | number>>;
interface Forms {
  readonly one: string;
  readonly other: string;
}

/** A catalogue as the page uses it: a text with values takes them, a counted thing its number. */
export type Texts<T> = T extends string
  ? [Names<T>] extends [never]
    ? T extends 'ltr' | 'rtl'
      ? 'ltr' | 'rtl'
      : string
    : (values: Values<Names<T>>) => string
  : T extends Forms
    ? [Names<T['one' | 'other']>] extends [never]
      ? (count: number) => string
      : (count: number, values: Values<Names<T['one' | 'other']>>) => string
    : { readonly [K in keyof T]: Texts<T[K]> };

type Joined<T extends readonly string[]> = T extends readonly [
  infer First extends string,
  ...infer Rest extends readonly string[],
]
  ? `${First}${Joined<Rest>}`
  : '';

/** One text over several lines, so that its type still has the names of its values. */
export function text<const T extends readonly string[]>(...parts: T): Joined<T> {
  // trust: `Joined` is the type of this join; TypeScript cannot see that.
  return parts.join('') as Joined<T>;
}

/** `translation`: JSON of the same shape as `english`; English stands in for each missing text. */
export function textsOf<const T>(english: T, translation: unknown, language: string): Texts<T> {
  const rules = new Intl.PluralRules(language);
  const numbers = new Intl.NumberFormat(language);
  const counted = (forms: object) => (count: number, values?: Values<string>) => {
    const form = propertyOf(forms, rules.select(count)) ?? propertyOf(forms, 'other');
    return filled(String(form).replace('#', numbers.format(count)), values ?? {});
  };
  const read = (source: unknown, other: unknown): unknown => {
    if (typeof source === 'string') {
      const template = typeof other === 'string' ? other : source;
      return PLACEHOLDER.test(source)
        ? (values: Values<string>) => filled(template, values)
        : template;
    }
    if (Array.isArray(source)) return source.map((each, at) => read(each, propertyOf(other, at)));
    if (isForms(source)) return counted(isForms(other) ? other : source);
    const entries = Object.entries(source ?? {});
    return Object.fromEntries(
      entries.map(([name, each]) => [name, read(each, propertyOf(other, name))]),
    );
  };
  // trust: `read` returns for each kind of text what `Texts` names.
  return read(english, translation) as Texts<T>;
}

const PLACEHOLDER = /\{(\w+)\}/;

function filled(template: string, values: Values<string>): string {
  return template.replaceAll(/\{(\w+)\}/g, (all, name: string) => String(values[name] ?? all));
}

function isForms(value: unknown): value is Forms {
  return (
    typeof propertyOf(value, 'one') === 'string' && typeof propertyOf(value, 'other') === 'string'
  );
}

function propertyOf(value: unknown, name: string | number): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
