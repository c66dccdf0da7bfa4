/** Lookups over a Kupo, where all outputs but the reference scripts are outputs of the market. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { refText } from '../../src/cardano/codec/output.ts';
import { effectsOf } from '../../src/cardano/ledger/mempool.ts';
import { FoldUtxoLookup } from '../../src/chain/foldUtxoLookup.ts';
import type { Block, ChainStream } from '../../src/chain/port.ts';
import { StateStore } from '../../src/engine/store/state.ts';
import { inlineWriter } from '../../src/engine/store/stateWriter.ts';
import { CountedTrades } from '../../src/engine/store/tradeIds.ts';
import { HandClock } from '../support/handClock.ts';
import { temporaryDirectory } from '../support/server.ts';
import { until } from '../support/until.ts';
import { type KupoPlace, kupoPlace } from './kupo/kupoWorld.ts';

export interface MarketPlace {
  readonly kupo: KupoPlace;
  readonly lookup: FoldUtxoLookup;
  /** Clock by which cached answers expire. */
  readonly clock: HandClock;
  /** Everything that the ledger has said so far is served, and in the state. */
  settled(): Promise<void>;
}

/**
 * A state that keeps the unspent outputs of a chain, as the fold keeps the outputs of its market.
 */
class OutputRows {
  readonly store: StateStore;
  readonly #genesis: readonly string[];
  readonly #blocks: Block[] = [];
  #rows: ReadonlySet<string> = new Set();
  #seq = 0;

  constructor(genesis: readonly string[]) {
    const file = join(temporaryDirectory(), 'state.sqlite');
    this.store = new StateStore(file, { horizonBlocks: 5, maxMb: 0, writer: inlineWriter });
    this.#genesis = genesis;
    this.#stage();
  }

  get tipHash(): string | undefined {
    return this.#blocks.at(-1)?.point.hash;
  }

  async follow(stream: ChainStream): Promise<void> {
    for (let event = await stream.next(); event !== null; event = await stream.next()) {
      if (event.kind === 'mempool') continue;
      if (event.kind === 'forward') this.#blocks.push(event.block);
      else {
        const { point } = event;
        const at = this.#blocks.findIndex((block) => block.point.hash === point?.hash);
        this.#blocks.splice(at + 1);
      }
      this.#stage();
    }
  }

  #stage(): void {
    const rows = new Set(this.#genesis);
    for (const tx of this.#blocks.flatMap(({ transactions }) => transactions)) {
      const { made, spent } = effectsOf(tx);
      for (const ref of spent) rows.delete(refText(ref));
      for (const { ref } of made) rows.add(refText(ref));
    }
    const before = this.#rows;
    const keys = [...new Set([...before, ...rows])].filter(
      (key) => before.has(key) !== rows.has(key),
    );
    this.#rows = rows;
    this.#seq += 1;
    const change = (key: string) => ({
      ...({ table: 'outputs', key, cause: 'trade' } as const),
      before: before.has(key) ? '{}' : null,
      after: rows.has(key) ? '{}' : null,
    });
    const hashes = { epoch: '1-test', entryHash: '', stateHash: '', hashedSeq: 0 };
    const checkpoint = { ...hashes, seq: this.#seq, term: 1, marketMs: 0, openedMs: 0, seenMs: 0 };
    const changes = keys.map(change);
    this.store.stage({
      checkpoint,
      block: true,
      atMs: 0,
      changes,
      trades: new CountedTrades(),
      streamChanges: [],
    });
  }
}

export async function marketPlace(test: TestContext): Promise<MarketPlace> {
  const clock = new HandClock();
  const kupo = await kupoPlace(test);
  const { ledger, overlay } = kupo;
  const scripts = Object.values(ledger.deployment.scripts).map(({ ref }) => refText(ref));
  const genesis = ledger.genesis.map(({ ref }) => refText(ref));
  const rows = new OutputRows(genesis.filter((name) => !scripts.includes(name)));
  const stream = await ledger.open([]);
  if (stream === null) throw new Error('the chain has a beginning');
  const following = rows.follow(stream);
  test.after(async () => {
    await stream.close();
    await following;
    await rows.store.close();
  });
  const lookup = new FoldUtxoLookup({
    index: kupo.lookup,
    store: () => rows.store,
    overlay: overlay,
    deployment: ledger.deployment,
    clock,
  });
  const settled = async () => {
    await kupo.settled();
    await until('the state has the newest block', () => rows.tipHash === kupo.served()?.hash);
  };
  return { kupo, lookup, clock, settled };
}
