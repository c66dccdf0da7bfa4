/**
 * Trades per second through the actors and their six resolutions, alone and with log and store.
 * The question, the method and the numbers are in RESULTS.md.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Fold } from '../src/engine/fold/fold.ts';
import { MarketRecord } from '../src/engine/fold/marketRecord.ts';
import { LocalLog } from '../src/engine/log/local.ts';
import { LogWriter } from '../src/engine/log/writer.ts';
import type { Trade } from '../src/engine/market/trade.ts';
import { Node } from '../src/engine/node/node.ts';
import { PairBars } from '../src/engine/pools/pairBars.ts';
import { dataFiles } from '../src/engine/recovery/dataFiles.ts';
import { recover } from '../src/engine/recovery/recovery.ts';
import { systemClock } from '../src/engine/runtime/clock.ts';
import { seededRng } from '../src/engine/runtime/rng.ts';
import { StateStore } from '../src/engine/store/state.ts';
import { threadWriter } from '../src/engine/store/stateWriter.ts';
import { type Bench, fixed, whole } from './support/bench.ts';
import { parseSeconds, sqliteSeconds } from './support/foldPeers.ts';
import { makeTrades, sealBlocks } from './support/trades.ts';

const STORE = { horizonBlocks: 2160, maxMb: 0, writer: threadWriter } as const;
const FOLD = { maxLoadedPairs: 20_000, quarantined: fail };

export interface FoldResult {
  readonly name: string;
  readonly tradesPerSecond: number;
  /** The same trades by other means, right before and after. */
  readonly peer: { readonly name: string; readonly tradesPerSecond: number } | null;
  readonly loopDelayP99Ms: number | null;
}

export const foldTrades: Bench = {
  name: 'foldTrades',
  async measure({ trades }, progress) {
    progress(`${whole(trades)} trades each`);
    const rows = (await benchFold(trades)).map(({ name, tradesPerSecond, ...of }) => [
      name,
      whole(tradesPerSecond),
      of.peer?.name ?? '–',
      of.peer === null ? '–' : whole(of.peer.tradesPerSecond),
      of.peer === null ? '–' : fixed(tradesPerSecond / of.peer.tradesPerSecond, 2),
      of.loopDelayP99Ms === null ? '–' : fixed(of.loopDelayP99Ms, 1),
    ]);
    const notes = [`${whole(trades)} trades in each row; in this process, not pinned.`];
    const columns = ['what', 'trades/s', 'beside', 'its trades/s', 'ratio', 'loop delay p99 ms'];
    return { columns, rows, notes };
  },
};

export async function benchFold(count = 200_000): Promise<FoldResult[]> {
  const results: FoldResult[] = [];
  for (const pairs of [1, 5_000]) {
    results.push(await inActors(count, pairs));
    for (const perEntry of [1, 12]) {
      results.push(await inFold(count, pairs, perEntry));
      results.push(await throughLogAndStore(count, pairs, perEntry));
    }
  }
  return results;
}

/** Only the actors: a trade in, six bars changed. */
function inActors(count: number, pairs: number): Promise<FoldResult> {
  return inDirectory(async (directory) => {
    const store = new StateStore(join(directory, 'state.sqlite'), STORE);
    const trades = makeTrades(count, pairs).map(({ atMs, trade }, index) => ({
      pair: index % pairs,
      trade: {
        id: trade.id,
        timeMs: atMs,
        baseAmount: BigInt(trade.baseAmount),
        quoteAmount: BigInt(trade.quoteAmount),
      } satisfies Trade,
    }));
    const actors = Array.from({ length: pairs }, (_, id) => {
      const pair = { id, base: String(id), quote: '.', baseDecimals: 0, quoteDecimals: 6 };
      return new PairBars(store, pair, null);
    });
    const startMs = performance.now();
    const effects = { changes: [], tags: new Set<string>() };
    trades.forEach(({ pair, trade }, index) => {
      actors[pair]?.apply([trade], { marketMs: trade.timeMs, seq: index }, effects, []);
    });
    const seconds = (performance.now() - startMs) / 1000;
    await store.close();
    return {
      name: `actors, ${pairs} pairs`,
      tradesPerSecond: count / seconds,
      peer: null,
      loopDelayP99Ms: null,
    };
  });
}

/** Actors, row effects and state hash, nothing written. */
function inFold(count: number, pairs: number, perEntry: number): Promise<FoldResult> {
  return inDirectory(async (directory) => {
    const entries = sealBlocks(makeTrades(count, pairs), perEntry);
    const store = new StateStore(join(directory, 'state.sqlite'), STORE);
    const fold = new Fold(store, FOLD);
    const tags = new Set<string>();
    parseSeconds(entries);
    const before = parseSeconds(entries);
    const startMs = performance.now();
    for (const sealed of entries) fold.apply(sealed, tags);
    const seconds = (performance.now() - startMs) / 1000;
    const parsed = (before + parseSeconds(entries)) / 2;
    await store.close();
    const peer = { name: 'JSON.parse', tradesPerSecond: count / parsed };
    const name = `fold in memory, ${pairs} pairs, ${perEntry}/entry`;
    return { name, tradesPerSecond: count / seconds, peer, loopDelayP99Ms: null };
  });
}

async function throughLogAndStore(
  count: number,
  pairs: number,
  perEntry: number,
): Promise<FoldResult> {
  const directory = mkdtempSync(join(tmpdir(), 'upcurve-bench-'));
  const clock = systemClock;
  const files = dataFiles(directory);
  const log = await LocalLog.open({ file: files.log, maxMb: 0 });
  const options = { ...STORE, maxLoadedPairs: 20_000, commitEveryMs: 200 };
  const market = new MarketRecord(directory, null);
  const recovery = { ...options, market, clock, rng: seededRng(1), quarantined: fail, ...SILENT };
  const store = await recover(log, files, recovery);
  const tail = await log.last();
  const node = new Node(store, tail.seq, log, files, clock, options, {
    ...SILENT,
    actorQuarantined: fail,
  });
  node.start({ applied: () => {}, epochChanged: () => {} });
  const writer = new LogWriter(log, tail, 1, clock, SILENT);
  const trades = makeTrades(count, pairs);
  const drafts = sealBlocks(trades, perEntry).slice(1);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const startMs = performance.now();
  for (let index = 0; index < drafts.length; index += BATCH) {
    const some = drafts.slice(index, index + BATCH);
    await node.reached(await writer.append(some.map(({ entry }) => entry)));
  }
  const seconds = (performance.now() - startMs) / 1000;
  delay.disable();
  await node.stop();
  const written = sqliteSeconds(directory, trades, BATCH * perEntry);
  rmSync(directory, { recursive: true });
  return {
    name: `log, fold and store, ${pairs} pairs, ${perEntry}/entry`,
    tradesPerSecond: count / seconds,
    peer: { name: 'better-sqlite3', tradesPerSecond: count / written },
    loopDelayP99Ms: delay.percentile(99) / 1e6,
  };
}

/** As replay.ts does. */
const BATCH = 256;
const SILENT = {
  batchApplied: () => {},
  committed: () => {},
  commitFailed: fail,
  foldFailed: fail,
  rollbackApplied: () => {},
  appendFailed: fail,
  epochStarted: () => {},
  stateUnreadable: fail,
  stateRebuilding: fail,
  stateRebuilt: fail,
  stateNotRebuilt: fail,
};

function fail(...what: unknown[]): never {
  throw new Error(`the bench broke: ${what.map(String).join(' ')}`);
}

async function inDirectory(run: (directory: string) => Promise<FoldResult>): Promise<FoldResult> {
  const directory = mkdtempSync(join(tmpdir(), 'upcurve-bench-'));
  try {
    return await run(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
