/**
 * A webhook of a running market: the state that its receiver has, compared with the answers of the
 * server.
 */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, type TradeRow } from '../../../src/client/index.ts';
import { type Environment, temporaryDirectory } from '../../support/server.ts';
import { untilAsked } from '../../support/until.ts';
import { applied, type Receiver } from './receiver.ts';

const KEY = 'upc_a-key-of-this-test';
const LIMIT_MS = 120_000;
const PAGE = 100;

/** Settings of a server that has the key, and may send to this machine. */
export function webhookEnv(): Environment {
  const file = join(temporaryDirectory(), 'api-keys.json');
  writeFileSync(file, JSON.stringify({ keys: [{ name: 'bot', sha256: hash('sha256', KEY) }] }));
  return { API_KEYS_FILE: file, WEBHOOK_PRIVATE_RANGES: '127.0.0.1' };
}

export function clientOf(url: string): Client {
  return new Client({ url, key: KEY, maxAttempts: 10 });
}

/** A token that is traded. */
export async function tradedToken(client: Client): Promise<string> {
  const ask = async () => (await client.pools.list('MCapDesc')).data[0]?.info.asset ?? '';
  const isTraded = async () => {
    const asset = await ask();
    return asset === '' ? '' : (await client.trades.list({ asset })).data.length > 1 ? asset : '';
  };
  return untilAsked('a token is traded', isTraded, (asset) => asset !== '', LIMIT_MS);
}

export async function register(client: Client, receiver: Receiver, asset: string) {
  const pair = { base: asset, quote: '.' };
  const { data } = await client.webhooks.create({
    url: receiver.url,
    topics: [
      { topic: 'Trades', data: { asset }, requestId: 'trades' },
      { topic: 'LastBar', data: { pair, interval: 'min1' }, requestId: 'bars' },
    ],
  });
  return data;
}

/** By the rules that the guide gives a receiver; newest first. */
function tapeOf(receiver: Receiver): readonly string[] {
  const frames = receiver.accepted.flatMap(({ frames: all }) => all);
  applied(frames, 'bars');
  const trades = new Map<string, string>();
  for (const { event, data, snapshot } of applied(frames, 'trades')) {
    if (event === 'Subscribed') continue;
    if (snapshot === true) trades.clear();
    // trust: the documented data of the topic
    for (const row of (data ?? []) as unknown as readonly (TradeRow & { removed?: true })[]) {
      if (row.removed === true) trades.delete(row.id);
      else trades.set(row.id, JSON.stringify(row));
    }
  }
  const newestFirst = [...trades].sort(([a], [b]) => (a < b ? 1 : -1));
  return newestFirst.map(([, row]) => row);
}

async function wholeTape(client: Client, asset: string): Promise<string[]> {
  const rows: TradeRow[] = [];
  for (;;) {
    const before = rows.at(-1)?.id;
    const { data } = await client.trades.list({ asset, limit: PAGE, ...(before && { before }) });
    rows.push(...data);
    if (data.length < PAGE) return rows.map((row) => JSON.stringify(row));
  }
}

/**
 * Asserts that the receiver's trades equal the server's, and that there are at least `atLeast` of
 * them.
 */
export async function sameTape(
  client: Client,
  receiver: Receiver,
  asset: string,
  atLeast: number,
): Promise<number> {
  const isSame = async () => {
    const answered = await wholeTape(client, asset);
    const known = tapeOf(receiver);
    return known.length >= atLeast && JSON.stringify(known) === JSON.stringify(answered)
      ? known.length
      : 0;
  };
  const what = () => `${atLeast} trades are known, ${tapeOf(receiver).length} are`;
  return untilAsked(what, isSame, (count) => count > 0, LIMIT_MS).catch(async (error: unknown) => {
    assert.deepEqual(tapeOf(receiver).slice(0, 5), (await wholeTape(client, asset)).slice(0, 5));
    throw error;
  });
}
