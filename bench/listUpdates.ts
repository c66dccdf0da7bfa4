/**
 * The lists of a market with 100,000 pools: what a change, a page and a search cost.
 * The question, the method and the numbers are in RESULTS.md.
 */
import { hash } from 'node:crypto';
import { PoolDirectory } from '../src/engine/actors/directory.ts';
import { DEFAULT_CURVE } from '../src/engine/market/curve.ts';
import { DEFAULT_THRESHOLD_LOVELACE } from '../src/engine/market/pool.ts';
import { POOL_LISTS } from '../src/engine/market/poolView.ts';
import { type Rng, seededRng } from '../src/engine/runtime/rng.ts';
import type { PoolRecord } from '../src/engine/store/records.ts';
import { type Bench, fixed, whole } from './support/bench.ts';
import { quantile } from './support/quantile.ts';

const POOLS = 100_000;
const PAGE = 100;
const LAUNCHES = 1_000;
const START_MS = Date.UTC(2026, 0, 1);
/** From one that nothing matches to one that nearly everything does. */
const PATTERNS = ['zzzz', 'moon cat', 'cat', 'o', '7f3', 'a', '.'];
const WORDS = ['moon', 'cat', 'dog', 'snek', 'rocket', 'pepe', 'gold', 'king', 'ada', 'frog'];

export const listUpdates: Bench = {
  name: 'listUpdates',
  async measure({ trades }, progress) {
    progress(`${whole(POOLS)} pools`);
    const rng = seededRng(1);
    const rows = Array.from({ length: POOLS }, (_, index) => newPool(index, rng));
    const texts = rows.map((pool) => ({ key: pool.token, value: JSON.stringify(pool) }));
    const textsMb = memoryMb();
    const startMs = performance.now();
    const directory = new PoolDirectory(texts, 0);
    const buildMs = performance.now() - startMs;
    const ownMb = memoryMb() - textsMb;
    const table = [
      ['made of its rows', '1', fixed(buildMs * 1000, 0)],
      ...benchSets(directory, rows, trades, rng),
      ...benchPages(directory),
      ...benchSearches(directory),
    ];
    const notes = [
      `${whole(POOLS)} pools; in this process, not pinned. A trade's new row is parsed as well.`,
      `Memory of the directory beside the texts of the rows: ${fixed((ownMb / POOLS) * 1e6, 0)} ` +
        'bytes a pool (with --expose-gc).',
    ];
    return { columns: ['what', 'times', 'µs each', 'p99 µs'], rows: table, notes };
  },
};

/** Trades that move two ranks, all with the parsing of the new row, and launches. */
function benchSets(
  directory: PoolDirectory,
  rows: PoolRecord[],
  count: number,
  rng: Rng,
): string[][] {
  let atMs = START_MS + POOLS * 1000;
  let seq = 1;
  const trades = Array.from({ length: count }, () => {
    const index = below(rng, POOLS);
    const pool = rows[index] ?? newPool(index, rng);
    atMs += 300;
    const traded = { ...pool, ...curveAt(rng), lastTradeMs: atMs, movedMs: atMs };
    rows[index] = traded;
    return { token: pool.token, text: JSON.stringify(traded) };
  });
  const traded = timed(trades, ({ token, text }) => directory.set(token, text, seq++));
  const parsed = timed(trades, ({ text }) => JSON.parse(text));
  const launches = Array.from({ length: LAUNCHES }, (_, index) => newPool(POOLS + index, rng));
  const texts = launches.map((pool) => ({ token: pool.token, text: JSON.stringify(pool) }));
  const launched = timed(texts, ({ token, text }) => directory.set(token, text, seq++));
  const removed = timed(texts, ({ token }) => directory.set(token, null, seq++));
  return [
    ['a trade: row parsed, lists in order', ...traded],
    ['of that, parsing the row', ...parsed],
    ['a launch', ...launched],
    ['a launch rolled back', ...removed],
  ];
}

function benchPages(directory: PoolDirectory): string[][] {
  return POOL_LISTS.map((list) => {
    const times = Array.from({ length: 2_000 }, () => list);
    return [`page of ${list}`, ...timed(times, (name) => directory.page(name, PAGE))];
  });
}

function benchSearches(directory: PoolDirectory): string[][] {
  return PATTERNS.flatMap((pattern) => {
    const { count } = directory.search(pattern, 0, PAGE);
    // Spaces before it would be another pattern: forget by a launch that is taken back.
    const token = `${'f'.repeat(56)}.00`;
    const text = JSON.stringify({ ...newPool(0, seededRng(2)), token });
    const cold = Array.from({ length: 30 }, () => {
      directory.set(token, text, Number.MAX_SAFE_INTEGER);
      directory.set(token, null, Number.MAX_SAFE_INTEGER);
      return timed([pattern], (each) => directory.search(each, 0, PAGE))[1] ?? '';
    }).map(Number);
    const warm = timed(Array(300).fill(pattern), (each) => directory.search(each, 0, PAGE));
    const deep = timed(Array(10).fill(pattern), (each) =>
      directory.search(each, Math.max(0, count - PAGE), PAGE),
    );
    const name = `search ${JSON.stringify(pattern)}, ${whole(count)} found`;
    return [
      [name, '30', fixed(mean(cold)), fixed(quantile(cold, 0.99))],
      [`${name}, asked again`, ...warm],
      [`${name}, last page`, ...deep],
    ];
  });
}

function timed<T>(work: readonly T[], run: (each: T) => unknown): string[] {
  const times = work.map((each) => {
    const startMs = performance.now();
    run(each);
    return (performance.now() - startMs) * 1000;
  });
  return [whole(work.length), fixed(mean(times)), fixed(quantile(times, 0.99))];
}

function below(rng: Rng, end: number): number {
  return Math.floor(rng.unit() * end);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function curveAt(rng: Rng): Pick<PoolRecord, 'reserves'> {
  const y = DEFAULT_CURVE.supply - BigInt(below(rng, 500_000_000));
  return { reserves: { venue: 'CURVE', x: String(below(rng, 1e10)), y: String(y), owed: '0' } };
}

function newPool(index: number, rng: Rng): PoolRecord {
  const policy = hash('sha256', `pool ${index}`).slice(0, 56);
  const word = () => WORDS[below(rng, WORDS.length)] ?? '';
  const name = `${word()} ${word()} ${index % 1000}`;
  const atMs = START_MS + index * 1000;
  const key = hash('sha256', `author ${index}`).slice(0, 56);
  return {
    token: `${policy}.${Buffer.from(name).toString('hex')}`,
    nft: `${policy}.00`,
    author: { pkh: key, skh: key, address: `addr_test1${key}${key}` },
    aNum: String(DEFAULT_CURVE.aNum),
    bNum: String(DEFAULT_CURVE.bNum),
    supply: String(DEFAULT_CURVE.supply),
    thresholdLovelace: String(DEFAULT_THRESHOLD_LOVELACE),
    executor: key,
    seed: null,
    name,
    ticker: name.slice(0, 4).toUpperCase().trim(),
    logoCID: `bafkrei${key.slice(4)}`,
    description: `The ${name} of all tokens. `.repeat(8),
    launchType: 0,
    socials: { twitter: 'https://example.org/t', telegram: '', discord: '', website: '' },
    metadataRef: null,
    ...curveAt(rng),
    ref: `${policy}00000000:0`,
    launchTx: `${policy}00000000`,
    createdMs: atMs,
    movedMs: atMs,
    lastTradeMs: null,
    graduatedMs: index % 20 === 0 ? atMs : null,
    firstMs: 0,
    crownedMs: null,
    sinceSlot: null,
    volumeLovelace: '0',
    fills: 0,
  };
}

function memoryMb(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1e6;
}
