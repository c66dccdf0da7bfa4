/**
 * Looks for known faults of Plutus validators in the Helios sources and in the compiled scripts. A
 * reader of text, no prover: for each redeemer and each kind of fault a check is named
 * (`guards.ts`), which the code that the redeemer reaches must hold, and which an attack in
 * `actions/` must have met; patterns that such faults are made of are refused wherever they stand,
 * except where somebody looked and wrote down why (`REVIEWED`).
 */
import { scriptHash } from '../../../src/cardano/codec/hash.ts';
import { type Guards, REVIEWED } from './guards.ts';

export interface Finding {
  /** The kind of fault. */
  readonly rule: string;
  readonly where: string;
  readonly what: string;
}

/** By name, without comments. */
export type Sources = ReadonlyMap<string, string>;

export function withoutComments(source: string): string {
  return source.replaceAll(/\/\/.*$/gm, '');
}

interface Pattern {
  readonly rule: string;
  readonly fault: RegExp;
  readonly what: string;
}

const PATTERNS: readonly Pattern[] = [
  {
    rule: 'double satisfaction',
    fault: /\boutputs\.(?!get\b|head\b|tail\b)\w+\(.*/g,
    what: 'outputs are searched: one may serve twice',
  },
  {
    rule: 'double satisfaction',
    fault: /\boutputs\.get\(.*/g,
    what: 'an output is read by an index: what keeps it from serving twice?',
  },
  {
    rule: 'missing stake part',
    fault: /\.(?:credential|staking_credential)\b.*/g,
    what: 'a part of an address is compared',
  },
  {
    rule: 'time range',
    fault: /\btime_range\b(?!\.start >= ).*/g,
    what: 'a bound of the time range other than start >= …',
  },
  {
    rule: 'unbounded value',
    fault: /\bnext\.value[^\n]*(?:>=|<=|<|>)(?!\s*Bool).*/g,
    what: "a successor's value is bounded on one side",
  },
  {
    rule: 'unbounded datum',
    fault: /\bnext\.datum\.inline\.as\[[\w:]+\](?! ==).*/g,
    what: "a successor's datum is not compared whole",
  },
  {
    rule: 'unbounded datum',
    fault: /\.datum\.(?!inline\b).*/g,
    what: 'a datum that is not inline',
  },
  { rule: 'rounding', fault: /[^/]\/[^/].*/g, what: 'a division' },
  { rule: 'empty check', fault: /assert\(\s*true\b.*/g, what: 'an assertion that cannot fail' },
];

export function patternFindings(sources: Sources): Finding[] {
  const used = new Set<string>();
  const found = [...sources].flatMap(([name, source]) =>
    PATTERNS.flatMap(({ rule, fault, what }) =>
      [...source.matchAll(fault)].flatMap(([text]): Finding[] => {
        const key = `${name}: ${text.replaceAll(/\s+/g, ' ').trim()}`;
        if (Object.hasOwn(REVIEWED, key)) {
          used.add(key);
          return [];
        }
        return [{ rule, where: key, what }];
      }),
    ),
  );
  const stale = Object.keys(REVIEWED).filter((key) => !used.has(key));
  return [
    ...found,
    ...stale.map((where) => ({ rule: 'review', where, what: 'reviewed, and not there any more' })),
  ];
}

/** Unknown redeemers, and a `switch` whose result is dropped. */
export function redeemerFindings(sources: Sources): Finding[] {
  return [...sources].flatMap(([name, source]) => {
    const redeemers = /enum Redeemer \{([\s\S]*?)\n\}/.exec(source)?.[1];
    if (redeemers === undefined) return [];
    const endsWithNever = /\bNever\s*$/.test(redeemers) && /\bNever => false\s*\}/.test(source);
    const judges = /assert\(accepted, "no such redeemer"\)\s*\}\s*$/.test(source);
    const dropped = [...source.matchAll(/^\s*\w[\w.]*\.switch \{/gm)].filter(
      ({ index, 0: text }) => source[closing(source, index + text.length - 1) + 1] === ';',
    );
    return [
      ...(endsWithNever && judges
        ? []
        : [{ rule: 'unknown redeemer', where: name, what: 'the last case is not Never => false' }]),
      ...dropped.map(({ 0: text }) => {
        const where = `${name}: ${text.trim()}`;
        return { rule: 'unknown redeemer', where, what: 'a switch whose result is dropped' };
      }),
    ];
  });
}

/** The place of the bracket that closes the one at `open`. */
function closing(source: string, open: number): number {
  let depth = 0;
  for (let at = open; at < source.length; at += 1) {
    if (source[at] === '{') depth += 1;
    if (source[at] === '}') depth -= 1;
    if (depth === 0) return at;
  }
  return source.length;
}

/** Each guard must stand in the code that its redeemer reaches, and have refused an attack. */
export function guardFindings(sources: Sources, guards: Guards, attacks: string): Finding[] {
  const found: Finding[] = [];
  for (const [name, redeemers] of Object.entries(guards)) {
    const source = sources.get(name) ?? '';
    const known = [...casesOf(source)].map(([redeemer]) => redeemer).sort();
    if (known.join() !== [...Object.keys(redeemers), 'Never'].sort().join()) {
      found.push({ rule: 'guards', where: name, what: `redeemers are ${known.join(', ')}` });
    }
    for (const [redeemer, faults] of Object.entries(redeemers)) {
      const reached = reach(
        casesOf(source).get(redeemer) ?? '',
        source,
        sources.get('market') ?? '',
      );
      for (const [rule, checks] of Object.entries(faults)) {
        if (typeof checks === 'string') continue;
        for (const check of checks) {
          const where = `${name} ${redeemer}`;
          if (!reached.includes(`"${check}"`)) {
            found.push({ rule, where, what: `the check "${check}" is not reached` });
          }
          if (!attacks.includes(`'${check}'`) && !attacks.includes(`"${check}"`)) {
            found.push({ rule, where, what: `no attack meets the check "${check}"` });
          }
        }
      }
    }
  }
  return found;
}

/** The code of each redeemer, with the shared code of `main`. */
function casesOf(source: string): Map<string, string> {
  const main = /^func main\([\s\S]*$/m.exec(source)?.[0] ?? '';
  const start = main.indexOf('redeemer.switch {');
  if (start < 0) return new Map();
  const open = main.indexOf('{', start);
  const end = closing(main, open);
  const around = main.slice(0, open) + main.slice(end);
  const inside = main.slice(open + 1, end);
  const cases = new Map<string, string>();
  for (const match of inside.matchAll(/(?:^|\n) {8}(?:\w+: )?(\w+) => (\{|false)/g)) {
    const [text, name = '', head] = match;
    const at = match.index + text.length - 1;
    cases.set(name, around + (head === '{' ? inside.slice(at, closing(inside, at) + 1) : ''));
  }
  return cases;
}

/** The code and every function that it calls, in this source or in the shared one. */
function reach(code: string, ...sources: readonly string[]): string {
  const functions = new Map<string, string>();
  for (const source of sources) {
    for (const match of source.matchAll(/^func (\w+)\(/gm)) {
      const [, name = ''] = match;
      // The body begins with the last bracket of the head's lines.
      const head = /\{\n/.exec(source.slice(match.index));
      const open = match.index + (head?.index ?? 0);
      if (name !== 'main') functions.set(name, source.slice(open, closing(source, open) + 1));
    }
  }
  const seen = new Set<string>();
  const texts = [code];
  // Grows while it is gone through.
  for (const text of texts) {
    for (const [name] of text.matchAll(/\b\w+\b/g)) {
      const body = functions.get(name);
      if (body === undefined || seen.has(name)) continue;
      seen.add(name);
      texts.push(body);
    }
  }
  return texts.join('\n');
}

interface CompiledScript {
  readonly title: string;
  readonly compiledCode: string;
  readonly hash: string;
}

/** A transaction takes 16,384 bytes; all reference scripts are published in one. */
const MAX_BYTES = 15_500;
const POLICIES = ['tokenPolicy'];

export function compiledFindings(scripts: readonly CompiledScript[], sources: Sources): Finding[] {
  const published = scripts.filter(({ title }) => !POLICIES.includes(title));
  const bytes = published.reduce((sum, { compiledCode }) => sum + compiledCode.length / 2, 0);
  const said = [...sources.values()].flatMap((source) =>
    [...source.matchAll(/"([a-z][^"]*)"/g)].map(([, text = '']) => text),
  );
  return [
    ...(bytes <= MAX_BYTES
      ? []
      : [{ rule: 'size', where: 'all', what: `${bytes} bytes, at most ${MAX_BYTES}` }]),
    ...scripts.flatMap(({ title: where, compiledCode, hash }) => {
      const traced = said.filter((text) => {
        return compiledCode.includes(Buffer.from(text).toString('hex'));
      });
      return [
        ...(scriptHash(compiledCode) === hash ? [] : [{ rule: 'hash', where, what: hash }]),
        ...traced.map((what) => ({ rule: 'debug build', where, what })),
      ];
    }),
  ];
}
