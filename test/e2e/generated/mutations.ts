/** Changes to a valid request that leave it one whole request of HTTP/1.1. */
import fc from 'fast-check';
import type { Draft } from './draft.ts';

type Change = (draft: Draft, place: number, junk: Junk) => Draft;

interface Junk {
  readonly text: string;
  readonly value: unknown;
}

const NUMBERS = [
  '-1',
  '0',
  '1.5',
  '1e3',
  '00',
  '+1',
  '2147483648',
  '9007199254740993',
  '1'.repeat(40),
  'NaN',
  'Infinity',
  '0x10',
];
const VALUES = [
  null,
  '',
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  true,
  [],
  {},
  [[]],
  { length: 3 },
  'x'.repeat(5_000),
  '\u0000',
  '\ud800',
  '🐱‍👤e\u0301\u202e',
  '__proto__',
  'constructor',
  '9'.repeat(200),
  ...NUMBERS,
];
const TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-8',
  'APPLICATION/JSON',
  'application/jsonx',
  ';',
  '',
];
const METHODS = ['PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'GET', 'POST', 'TRACE', 'FOO'];
const MEBIBYTE = 1_048_576;
/** Counts round over what there is to choose from, so all numbers are alike. */
export const PLACE = fc.noBias(fc.nat());

export function junk(): fc.Arbitrary<Junk> {
  const texts = fc.oneof(
    fc.constantFrom(...NUMBERS, '%', '%zz', '%00', '%ff', '+', 'null', 'undefined', '[]', "';--"),
    fc.string({ unit: 'binary', maxLength: 20 }).map((text) => encodeURIComponent(safe(text))),
    fc.string({ maxLength: 20 }).map((text) => text.replaceAll(/[\s#?&]/g, '_')),
    fc.constantFrom('a', '%41').map((text) => text.repeat(300)),
  );
  const value = fc.oneof(fc.constantFrom(...VALUES), fc.jsonValue({ maxDepth: 3 }));
  return fc.record({ text: texts, value });
}

function safe(text: string): string {
  return text.toWellFormed();
}

/** The item at `place`, counted round, becomes what `change` makes of it. */
function at<T>(items: readonly T[], place: number, change: (item: T) => readonly T[]): T[] {
  const index = items.length === 0 ? -1 : place % items.length;
  return items.flatMap((item, each) => (each === index ? change(item) : [item]));
}

function pairs(
  change: (pair: readonly [string, string], junk: Junk) => [string, string][],
): Change {
  return (draft, place, some) => ({
    ...draft,
    pairs: at(draft.pairs, place, (pair) => change(pair, some)),
  });
}

const QUERY: readonly Change[] = [
  pairs(() => []),
  pairs((pair, { text }) => [[...pair], [pair[0], text]]),
  pairs((pair, { text }) => [[pair[0], text], [...pair]]),
  pairs(([name, value]) => [[name.toUpperCase(), value]]),
  pairs(([name, value], { text }) => [[name, value + text]]),
  pairs(([name], { text }) => [[name, text]]),
  pairs(([name]) => [[name, '']]),
  pairs(([name]) => [[name, 'null']]),
  pairs(([name, value]) => [[`${name}[]`, value]]),
  pairs(([name, value]) => [[name, value.toUpperCase()]]),
  (draft, place) => ({
    ...draft,
    pairs: at(draft.pairs, place >> 4, ([name]) => [[name, NUMBERS[place % NUMBERS.length] ?? '']]),
  }),
  (draft, _place, { text }) => ({
    ...draft,
    pairs: [...draft.pairs, [text.replaceAll('=', '') || 'x', text], ['__proto__', text]],
  }),
];

/** Changes one value somewhere in `value`, at a place that counts over what each level holds. */
function inside(value: unknown, place: number, junk: unknown): unknown {
  if (place % 5 === 4 || typeof value !== 'object' || value === null) return junk;
  const deeper = Math.floor(place / 5);
  if (Array.isArray(value)) return at(value, deeper, (item) => [inside(item, deeper, junk)]);
  const fields: [string, unknown][] = Object.entries(value);
  const changed = at(fields, deeper, ([name, field]): [string, unknown][] => {
    if (place % 5 === 0) return [];
    if (place % 5 === 1) return [[name.toUpperCase(), field]];
    return [[name, inside(field, Math.floor(deeper / Math.max(1, fields.length)) + 3, junk)]];
  });
  return Object.fromEntries(changed);
}

function text(change: (json: string, junk: Junk) => string): Change {
  return (draft, _place, some) => {
    if (draft.body === undefined || draft.isForm) return draft;
    const json = JSON.stringify(draft.body);
    return { ...draft, bytes: Buffer.from(change(json, some)) };
  };
}

const BODY: readonly Change[] = [
  ...[0, 1, 2, 3].map(
    (): Change =>
      (draft, place, { value }) => {
        if (draft.body === undefined) return draft;
        return { ...draft, body: inside(draft.body, place, value) };
      },
  ),
  (draft, _place, { value }) =>
    draft.body === undefined ? draft : { ...draft, body: value ?? null },
  text((json, some) =>
    json.replace(/[}\]]$/, (end) => `,"extra":${JSON.stringify(some.value)}${end}`),
  ),
  text((json) => json.slice(0, -1)),
  text((json) => json.slice(0, json.length >> 1)),
  text((json) => json.replace('{', '{"__proto__":{"amount":1},"constructor":null,')),
  text((json, some) => json + some.text),
  text((json) => `\ufeff${json}`),
  text((json) => json.replace(/"(\w+)":/, '"$1":1,"$1":')),
  text(() => `${'['.repeat(20_000)}${']'.repeat(20_000)}`),
  text(() => `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`),
  text(() => ' '),
  text(() => ''),
  text((json) => json.padEnd(MEBIBYTE)),
  text((json) => json.padEnd(MEBIBYTE + 1)),
  text(() => `[${'"'.padEnd(MEBIBYTE - 4, 'a')}"]`),
];

const HEADERS: readonly Change[] = [
  (draft, place) => ({
    ...draft,
    headers: [['Content-Type', TYPES[place % TYPES.length] ?? '']],
  }),
  (draft) => ({ ...draft, headers: [['Transfer-Encoding', 'chunked']] }),
  (draft, _place, { text }) => ({ ...draft, headers: [['X-Min-Position', text]] }),
  // Rarely the future, for which the server waits.
  (draft, place) => ({
    ...draft,
    headers: [['X-Min-Position', place % 8 === 0 ? '999999-a:9' : '0-a:1']],
  }),
  (draft, _place, { text }) => ({ ...draft, headers: [['If-None-Match', text]] }),
  (draft) => ({ ...draft, headers: [['Accept-Encoding', 'gzip;q=0, br, *;q=0.1']] }),
  (draft) => ({ ...draft, headers: [['X-Forwarded-For', '1.2.3.4, ::1, junk']] }),
  (draft, place) => ({ ...draft, method: METHODS[place % METHODS.length] ?? 'PUT' }),
];

const PATH: readonly ((path: string, text: string) => string)[] = [
  (path) => path.toUpperCase(),
  (path) => `${path}/`,
  (path) => path.replace('/', '//'),
  (path, text) => path + text,
  (path, text) => `${path}/${text}`,
  (path) => `${path}/../..`,
  (path) => path.slice(0, -1),
  (path) => `${path}%00`,
  (path) => path.replace(/[^/]+$/, '%2e%2e%2f'),
  (path) => path.replace(/.$/, (last) => `%${last.charCodeAt(0).toString(16)}`),
];

const TARGET: Change = (draft, place, { text }) => {
  const changed = PATH[place % PATH.length]?.(draft.path, text.replaceAll('?', '')) ?? draft.path;
  return { ...draft, path: changed.replaceAll(/[^\x21-\x7e]/g, '_') };
};

/** One or two changes. The choice of changes depends on the parts of the request. */
export function mutated(draft: fc.Arbitrary<Draft>): fc.Arbitrary<Draft> {
  const change = fc.tuple(PLACE, PLACE, junk());
  return fc.tuple(draft, fc.array(change, { minLength: 1, maxLength: 2 })).map(([valid, changes]) =>
    changes.reduce((changed, [kind, place, some]) => {
      const fitting = [
        ...(valid.pairs.length > 0 ? QUERY : QUERY.slice(-1)),
        ...(valid.body === undefined ? [] : BODY),
        ...HEADERS,
        TARGET,
      ];
      return fitting[kind % fitting.length]?.(changed, place, some) ?? changed;
    }, valid),
  );
}
