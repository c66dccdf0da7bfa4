/**
 * Words that have a plainer one (docs and code say the field's word, name the actor and put the
 * verb early), and names that were coined here and have gone.
 */
import type { Finding } from './source.ts';

/** Avoided → plain. */
const AVOIDED: Readonly<Record<string, string>> = {
  whoever: 'name who',
  nobody: 'name who does not',
  anew: 'again',
  begun: 'started',
  'goes on': 'continues',
  'what waits': 'pending',
  'is told': 'is notified, receives',
  'are told': 'are notified, receive',
  'laid over': 'overlaid on',
  'what it takes': 'valid values, requirements',
};

/** Coined → the field's name; in any case, also as a part of a longer name. */
const COINED: Readonly<Record<string, string>> = {
  agenda: 'pending work',
  conduct: 'FrameRateGuard',
  crew: 'Role',
  desk: 'TradingClient',
  fitness: 'eligibility',
  floats: 'FundingUtxos',
  landmark: 'PartialDeployment',
  lineage: 'entryRanges',
  overhearing: 'LocalMempoolFeed',
  roving: 'wandering',
  seat: 'StreamHandle',
  surroundings: 'environment, ClientPlatform',
  thief: 'TakenLease',
  vantage: 'NodeView',
  wish: 'SubscribeParams, QuoteParams',
  workshop: 'TxBuildContext',
};

/** Where they still stand, by folder: the most lines allowed. These numbers only shrink. */
const LEFT: Readonly<Record<string, number>> = {};

/** `user: nobody` is an account of Unix. */
const WORDS = new RegExp(`\\b(?<!user: )(?:${Object.keys(AVOIDED).join('|')})\\b`, 'gi');
const NAMES = new RegExp(
  Object.keys(COINED)
    .flatMap((name) => {
      const [first = '', rest] = [name[0], name.slice(1)];
      const upper = first.toUpperCase();
      return [`\\b${name}(?:e?s)?(?![a-z])`, `${upper}${rest}(?:e?s)?(?![a-z])`];
    })
    .join('|'),
  'g',
);
/** Findings of one folder that are shown: enough to see which word it is about. */
const MAX_SHOWN = 20;

/** Quotations in a document (messages, commands) keep their words. */
const QUOTED = /`[^`]*`/g;

/** Lines with an avoided word or a coined name. */
export function avoidedWords(path: string, text: string): Finding[] {
  return text.split('\n').flatMap((line, index) => {
    const said = path.endsWith('.md') ? line.replaceAll(QUOTED, '``') : line;
    const words = [...said.matchAll(WORDS)].map(([word]) => word.toLowerCase());
    const names = [...line.matchAll(NAMES)].map(([name]) => name);
    const rules = [
      ...words.map((word) => `“${word}”: say ${AVOIDED[word]}`),
      ...names.map((name) => `“${name}” was coined here: see COINED in test/tidy/words.ts`),
    ];
    return rules.slice(0, 1).map((rule) => ({ path, line: index + 1, rule }));
  });
}

/** Findings of the folders that have more of them than `left` allows. */
export function beyond(
  findings: readonly Finding[],
  left: Readonly<Record<string, number>> = LEFT,
): Finding[] {
  const byFolder = Map.groupBy(findings, ({ path }) => folderOf(path));
  return [...byFolder].flatMap(([folder, found]) => {
    const most = left[folder] ?? 0;
    if (found.length <= most) return [];
    const path = folder;
    const rule = `${found.length} lines with avoided words, at most ${most}`;
    return [{ path, line: 1, rule }, ...found.slice(0, MAX_SHOWN)];
  });
}

/** `src/api`, `test/chain`, `docs`; a file at the top is its own. */
function folderOf(path: string): string {
  const [top = '', below = ''] = path.split('/');
  return (top === 'src' || top === 'test') && path.split('/').length > 2 ? `${top}/${below}` : top;
}
