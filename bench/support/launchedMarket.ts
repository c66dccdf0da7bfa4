/**
 * A log of a chain with many launches, written as the follower writes it, so that an app started
 * over it has a market without a chain. No ledger has judged its transactions.
 */
import { hash } from 'node:crypto';
import { MarketRecord } from '../../src/engine/fold/marketRecord.ts';
import { LocalLog } from '../../src/engine/log/local.ts';
import { type EntryDraft, LogWriter } from '../../src/engine/log/writer.ts';
import { buyTokens, DEFAULT_CURVE } from '../../src/engine/market/curve.ts';
import { chainOrder, type MarketEvent, type PlacedOrder } from '../../src/engine/market/events.ts';
import { DEFAULT_THRESHOLD_LOVELACE } from '../../src/engine/market/pool.ts';
import { dataFiles } from '../../src/engine/recovery/dataFiles.ts';
import { recover } from '../../src/engine/recovery/recovery.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { systemRng } from '../../src/engine/runtime/rng.ts';

interface LaunchedMarketOptions {
  readonly pools: number;
  /** Orders of the first token, placed and refunded in turn. */
  readonly orders: number;
  /** Events after the first ones, one block per minute. */
  readonly life?: { readonly minutes: number; events(minute: number, slot: number): MarketEvent[] };
}

const START_MS = Date.UTC(2026, 0, 1);
const LAUNCHES_A_BLOCK = 100;
const ORDERS_A_BLOCK = 50;
const MINUTE_SECONDS = 60;
const SUPPLY = DEFAULT_CURVE.supply;

export function launchedToken(index: number): string {
  return `${idOf(`policy ${index}`, 56)}.${Buffer.from(`Token ${index}`).toString('hex')}`;
}

/** Fills a directory that has no log yet. */
export async function writeLaunchedMarket(
  directory: string,
  options: LaunchedMarketOptions,
): Promise<void> {
  const files = dataFiles(directory);
  const log = await LocalLog.open({ file: files.log, maxMb: 0 });
  const nothing = () => {};
  const store = await recover(log, files, {
    horizonBlocks: 2160,
    maxMb: 0,
    maxLoadedPairs: 100,
    market: new MarketRecord(directory, null),
    clock: systemClock,
    rng: systemRng,
    quarantined: nothing,
    epochStarted: nothing,
    stateUnreadable: nothing,
  });
  await store.close();
  const writer = new LogWriter(log, await log.last(), 1, systemClock, { appendFailed: nothing });
  for (const draft of drafts(options)) await writer.append([draft]);
  await log.close();
}

export function* drafts(options: LaunchedMarketOptions): Generator<EntryDraft> {
  const { pools, orders, life } = options;
  let height = 0;
  let seconds = 0;
  const block = (events: readonly MarketEvent[]): EntryDraft => {
    seconds = Math.max(seconds + 1, height * 20);
    const atMs = START_MS + seconds * 1000;
    const at = { slot: seconds, hash: idOf(`block ${height}`), height };
    const chain = { ...at, events, settled: [], dropped: [] };
    return { timeMs: atMs, payload: { kind: 'block', atMs, trades: [], chain } };
  };
  for (let first = 0; first < pools; first += LAUNCHES_A_BLOCK) {
    height += 1;
    const count = Math.min(LAUNCHES_A_BLOCK, pools - first);
    const slot = height * 20;
    yield block(Array.from({ length: count }, (_, at) => launch(first + at, slot, at)).flat());
  }
  for (let first = 0; first < orders; first += ORDERS_A_BLOCK) {
    height += 1;
    const count = Math.min(ORDERS_A_BLOCK, orders - first);
    const placed = Array.from({ length: count }, (_, at) => order(first + at, height * 20, at));
    yield block(placed.map((each) => ({ tx: txOf(each.ref), kind: 'placed', order: each })));
    height += 1;
    yield block(
      placed.map(({ ref }) => ({ tx: idOf(`refund ${ref}`), kind: 'refunded', order: ref })),
    );
  }
  for (let minute = 0; minute < (life?.minutes ?? 0); minute += 1) {
    height += 1;
    seconds += MINUTE_SECONDS;
    yield block(life?.events(minute, seconds + 1) ?? []);
  }
}

function launch(index: number, slot: number, txIndex: number): MarketEvent[] {
  const [token, tx] = [launchedToken(index), idOf(`launch ${index}`)];
  const nft = `${idOf('launches', 56)}.${idOf(`nft ${index}`)}`;
  const lovelace = BigInt(1 + (index % 900)) * 10_000_000n;
  const tokens = buyTokens(DEFAULT_CURVE, 0n, lovelace);
  const pkh = idOf(`author ${index}`, 56);
  const address = `addr_test1${idOf(`address ${index}`)}`;
  const after = {
    venue: 'CURVE',
    x: String(lovelace),
    y: String(SUPPLY - tokens),
    owed: '0',
  } as const;
  const pool = {
    nft,
    token,
    aNum: String(DEFAULT_CURVE.aNum),
    bNum: String(DEFAULT_CURVE.bNum),
    supply: String(SUPPLY),
    thresholdLovelace: String(DEFAULT_THRESHOLD_LOVELACE),
    executor: idOf('executor', 56),
    seed: null,
    author: { pkh, skh: '', address },
    name: `Token ${index}`,
    ticker: 'TOK',
    logoCID: `bafkrei${idOf(`logo ${index}`, 52)}`,
    description: 'A token that a bench launched.',
    launchType: 0,
    socials: { twitter: '', telegram: '', discord: '', website: '' },
    metadataRef: `${tx}:1`,
  };
  const amounts = { tokens: String(tokens), lovelace: String(lovelace) };
  const at = chainOrder(slot, txIndex, 0);
  const held = { lovelace: '2000000', datum: null };
  return [
    { tx, kind: 'launched', pool },
    { tx, kind: 'filled', at, token, order: null, side: 'buy', ...amounts, after },
    { tx, kind: 'moved', token, ref: `${tx}:0`, to: after },
    {
      ...{ tx, kind: 'made', ref: `${tx}:0`, address: 'pools', pkh: null, isOurs: true, ...held },
      assets: { [nft]: '1', [token]: after.y },
    },
    {
      ...{ tx, kind: 'made', ref: `${tx}:2`, address, pkh, isOurs: false, ...held },
      assets: { [token]: amounts.tokens },
    },
  ];
}

function order(index: number, slot: number, txIndex: number): PlacedOrder {
  const ref = `${idOf(`order ${index}`)}:0`;
  return {
    ref,
    at: chainOrder(slot, txIndex, 0),
    token: launchedToken(0),
    side: 'buy',
    amount: String(5_000_000 + index),
    worstPrice: { numerator: '11276389', denominator: '100000000' },
    feeLovelace: '1100000',
    depositLovelace: '1500000',
    refundAfterMs: START_MS,
    address: `addr_test1${idOf(`trader ${index % 100}`, 90)}`,
    pkh: idOf(`trader ${index % 100}`, 56),
    beacon: idOf(ref, 56),
  };
}

function txOf(ref: string): string {
  return ref.slice(0, ref.indexOf(':'));
}

/** A hash, of that many hex digits. */
export function idOf(text: string, length = 64): string {
  return hash('sha256', text, 'hex').padEnd(length, '0').slice(0, length);
}
