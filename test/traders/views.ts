/** Situations that a trader may find itself in. */
import { readTraderConfig, type TraderConfig } from '../../src/traders/config.ts';
import type { Style } from '../../src/traders/styles.ts';
import type { Token, View } from '../../src/traders/view.ts';

export const CONFIG: TraderConfig = readTraderConfig();
export const NOW_MS = 1_800_000_000_000;
export const ADA = 1_000_000n;
export const TOKEN = `${'ab'.repeat(28)}.544f4b`;
export const OTHER = `${'cd'.repeat(28)}.4f54`;

const PLAIN: Style = { name: 'small', size: 1, selling: 1, chases: 4, news: 6 };

export function token(more: Partial<Token> = {}): Token {
  const marketCapLovelace = 10_000n * ADA;
  return { asset: TOKEN, sinceMs: NOW_MS - 60_000, marketCapLovelace, venue: 'CURVE', ...more };
}

export function view(more: Partial<View> = {}): View {
  return {
    nowMs: NOW_MS,
    lovelace: 5_000n * ADA,
    tokens: new Map(),
    outputs: 5,
    market: [token()],
    locks: [],
    others: ['addr_test1other'],
    launchDue: false,
    style: PLAIN,
    mood: null,
    ...more,
  };
}
