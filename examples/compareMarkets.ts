/**
 * Compares what a node says of a market with what another source says of it: price, trades and
 * holders of the tokens that are worth most, and prints every difference.
 *
 *   node examples/compareMarkets.ts <node> <other node, or file> [tokens]
 *   node examples/compareMarkets.ts <node> --write <file> [tokens]
 *
 * A file has a line of JSON for each token, as `--write` makes it; a field that a line leaves out is
 * not compared. Sources are rarely at the same block: what differs is read again twice, and counts
 * when it differs each time. Ends with 1 where something differs, 2 where a source cannot be read.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { ApiError, Client } from '../src/client/index.ts';

const TRADES = 50;
const HOLDERS = 50;
const READINGS = 3;
const [first = '', second = '', ...rest] = process.argv.slice(2);
const waitMs = Number(process.env.COMPARE_WAIT_MS ?? 25_000);

/** The compared facts of a token; absent: the source does not say it. */
interface Facts {
  readonly asset: string;
  /** Lovelace and tokens that the pool trades with: the price follows from them. */
  readonly reserves?: { readonly x: string; readonly y: string };
  readonly trades?: Readonly<Record<string, string>>;
  readonly holders?: Readonly<Record<string, string>>;
}
type Source = (asset: string) => Promise<Facts | null>;

async function factsOf(client: Client, asset: string): Promise<Facts> {
  const [pool, trades, holders] = await Promise.all([
    client.pools.one(asset),
    client.trades.list({ asset, limit: TRADES }),
    client.holders.list({ assetId: asset, limit: HOLDERS }),
  ]);
  const { x, y } = pool.data.pool;
  // A transaction may have several fills: what they moved tells them apart.
  const rows = trades.data.map((row) => [
    `${row.txHash} ${row.side} ${row.baseAmount} tokens`,
    `${row.quoteAmount} lovelace by ${row.pkh || 'an unknown key'}`,
  ]);
  return {
    asset,
    reserves: { x: x.amount, y: y.amount },
    trades: Object.fromEntries(rows),
    holders: Object.fromEntries(holders.data.holders.map((row) => [row.address, row.quantity])),
  };
}

function sourceOf(place: string): Source {
  if (/^https?:/.test(place)) {
    const client = new Client({ url: place, maxAttempts: 5 });
    return async (asset) => {
      try {
        return await factsOf(client, asset);
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    };
  }
  const lines = readFileSync(place, 'utf8').split('\n').filter(Boolean);
  const byAsset = new Map(lines.map((line) => [String(JSON.parse(line).asset), JSON.parse(line)]));
  return async (asset) => byAsset.get(asset) ?? null;
}

/**
 * One line for each difference. Two lists that are cut end at different rows where one source is a
 * block behind: of the last quarter of a list nothing has to be in the other.
 */
function differences(here: Facts | null, there: Facts | null): string[] {
  if (here === null || there === null) return here === there ? [] : ['only one source knows it'];
  const found: string[] = [];
  for (const name of ['reserves', 'trades', 'holders'] as const) {
    const [one, other] = [here[name], there[name]] as (Record<string, string> | undefined)[];
    if (one === undefined || other === undefined) continue;
    for (const [key, value] of Object.entries(one)) {
      if (key in other && other[key] !== value)
        found.push(`${name}: ${key}: ${value} here, ${other[key]} there`);
    }
    for (const key of absent(one, other)) found.push(`${name}: ${key}: ${one[key]}, only here`);
    for (const key of absent(other, one)) found.push(`${name}: ${key}: ${other[key]}, only there`);
  }
  return found;
}

function absent(list: Record<string, string>, other: Record<string, string>): string[] {
  const keys = Object.keys(list);
  const whole = Math.max(keys.length, Object.keys(other).length) < TRADES;
  const expected = whole ? keys : keys.slice(0, Math.floor((keys.length * 3) / 4));
  return expected.filter((key) => !(key in other));
}

async function compare(asset: string, here: Source, there: Source): Promise<string[]> {
  let found = differences(await here(asset), await there(asset));
  for (let reading = 1; reading < READINGS && found.length > 0; reading += 1) {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    const again = new Set(differences(await here(asset), await there(asset)));
    found = found.filter((each) => again.has(each));
  }
  return found;
}

async function main(): Promise<number> {
  const isWrite = second === '--write';
  const target = isWrite ? rest.shift() : second;
  const most = Number(rest[0] ?? 20);
  if (!first || !target || !Number.isInteger(most) || most < 1) {
    console.error('usage: compareMarkets.ts <node> <other node, or file> [tokens]');
    return 2;
  }
  const client = new Client({ url: first, maxAttempts: 5 });
  const lists = await Promise.all(
    (['MCapDesc', 'CompletedMCap'] as const).map((list) => client.pools.list(list)),
  );
  const assets = lists.flatMap(({ data }) => data.map(({ info }) => info.asset));
  const chosen = assets.slice(0, most);
  const here = sourceOf(first);
  if (isWrite) {
    const facts = await Promise.all(chosen.map(here));
    writeFileSync(target, `${facts.map((each) => JSON.stringify(each)).join('\n')}\n`);
    return 0;
  }
  const there = sourceOf(target);
  let count = 0;
  for (const asset of chosen) {
    const found = await compare(asset, here, there);
    count += found.length;
    for (const line of found) console.log(`${asset}: ${line}`);
  }
  console.log(`${chosen.length} tokens compared, ${count} differences`);
  return count === 0 ? 0 : 1;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(`cannot compare: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(2);
  },
);
