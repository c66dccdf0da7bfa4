/**
 * A chain in the caller's thread: a ledger read directly, without Ogmios and Kupo. It judges our
 * clients of those: they must give the same answers.
 */
import type { OutputRef, Utxo } from '../../src/cardano/codec/output.ts';
import { type SlotConfig, slotAt } from '../../src/cardano/codec/slots.ts';
import type { Deployment } from '../../src/cardano/datums/deployment.ts';
import { Key } from '../../src/cardano/keys/keys.ts';
import type {
  SubmitOutcome,
  Submitter,
  UtxoLookup,
  UtxoState,
  UtxoView,
} from '../../src/cardano/ledger/port.ts';
import { type Page, utxosOfAsset, utxosOfCredential } from '../../src/cardano/ledger/views.ts';
import { type GenesisTerms, makeGenesis } from '../../src/cardano/validators/genesis.ts';
import type { ChainEvent, ChainSource, ChainStream, Point } from '../../src/chain/port.ts';
import { genesisUtxos } from '../../src/devnet/chainFile.ts';
import { payFromFaucet } from '../../src/devnet/faucet.ts';
import { Ledger, type Resubmit } from '../../src/devnet/ledger.ts';
import { type BlockHead, LedgerFile } from '../../src/devnet/ledgerFile.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { LedgerStream } from './ledgerStream.ts';

export interface TestChainOptions {
  readonly file: string;
  readonly genesis: GenesisTerms;
  /** 32 bytes, hex. */
  readonly faucetSecret: string;
  /** Start of slot 0 of a new chain. */
  readonly genesisTimeMs: number;
}

export interface OpenedLedger {
  readonly file: LedgerFile;
  readonly ledger: Ledger;
  readonly deployment: Deployment;
}

const SLOT_MS_ON_DEMAND = 1000;

/** Opens the ledger in a file, or starts it. With `paceMs` the clock advances its slots. */
export function openLedger(options: TestChainOptions, paceMs = 0): OpenedLedger {
  const { genesis, faucetSecret, genesisTimeMs } = options;
  const { deployment, outputs, aside } = makeGenesis(genesis);
  const file = new LedgerFile(options.file);
  if (file.genesis() === null) {
    const slotLengthMs = paceMs === 0 ? SLOT_MS_ON_DEMAND : paceMs;
    const slotConfig = { zeroTimeMs: genesisTimeMs, zeroSlot: 0, slotLengthMs };
    const utxos = genesisUtxos({ genesis: outputs, aside, faucetSecret });
    file.begin(JSON.stringify(slotConfig), utxos);
  }
  // trust: written above
  const slots = JSON.parse(file.genesis() ?? '') as SlotConfig;
  const slotNow = paceMs === 0 ? () => 0 : () => slotAt(slots, systemClock.nowMs());
  return { file, ledger: new Ledger(file, slots, slotNow), deployment };
}

export class TestChain implements ChainSource, Submitter, UtxoLookup {
  readonly deployment: Deployment;
  readonly #ledger: Ledger;
  readonly #file: LedgerFile;
  readonly #faucetKey: Key;
  readonly #streams = new Set<TestStream>();
  #isStopped = false;

  constructor(options: TestChainOptions) {
    const { ledger, file, deployment } = openLedger(options);
    this.#ledger = ledger;
    this.#file = file;
    this.#faucetKey = new Key(options.faucetSecret);
    this.deployment = deployment;
  }

  /** Its streams end. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    for (const stream of this.#streams) stream.end();
    this.#file.close();
  }

  get slotConfig(): SlotConfig {
    return this.#ledger.slots;
  }

  /** The genesis outputs. */
  get genesis(): readonly Utxo[] {
    return this.#file.genesisOutputs();
  }

  async open(points: readonly Point[]): Promise<ChainStream | null> {
    const heads = points.map(({ slot, hash }) => {
      const head = this.#file.headAt(slot);
      return head?.hash === hash ? head : null;
    });
    const from = heads.find((head) => head !== null) ?? null;
    if (points.length > 0 && from === null) return null;
    const reader = new LedgerStream(this.#ledger, this.#file, from);
    const stream = new TestStream(reader, () => this.#streams.delete(stream));
    this.#streams.add(stream);
    return stream;
  }

  submit(bytes: Uint8Array): Promise<SubmitOutcome> {
    return this.#change(() => this.#ledger.submit(bytes));
  }

  async byPaymentKey(keyHash: string, view: UtxoView, page: Page = {}): Promise<readonly Utxo[]> {
    return utxosOfCredential(this.#ledger, keyHash, view, page);
  }

  async byAsset(asset: string, view: UtxoView): Promise<readonly Utxo[]> {
    return utxosOfAsset(this.#ledger, asset, view);
  }

  async newestOf(_ref: OutputRef, asset: string): Promise<Utxo | null> {
    return utxosOfAsset(this.#ledger, asset, 'newest')[0] ?? null;
  }

  async byRefs(refs: readonly OutputRef[]): Promise<readonly UtxoState[]> {
    return refs.map((ref) => this.#ledger.output(ref));
  }

  async tip(): Promise<{ readonly tip: BlockHead | null; readonly slot: number }> {
    const { tip, slot } = this.#ledger;
    return { tip, slot };
  }

  /** Pays from the faucet's wallet; `accepted` is in the mempool, as with `submit`. */
  faucet(address: string, lovelace: bigint): Promise<SubmitOutcome> {
    return this.#change(() => payFromFaucet(this.#ledger, this.#faucetKey, address, lovelace));
  }

  /** Makes blocks at once, each in the next slot; resolves with the newest. */
  mine(count: number): Promise<BlockHead | null | Failure> {
    return this.#change(() => this.#ledger.forge(count) ?? this.#ledger.tip);
  }

  /**
   * Takes back the newest `depth` blocks, at once. Their transactions, or those named, and what
   * waited are judged again in order, after the streams have told that they lost their blocks.
   */
  fork(
    depth: number,
    { resubmit = 'all' }: { resubmit?: Resubmit } = {},
  ): Promise<{ tip: BlockHead | null; takenBack: number } | Failure> {
    return this.#change(() => {
      const fork = this.#ledger.fork(depth, resubmit);
      if (fork instanceof Failure) return fork;
      for (const { reader } of this.#streams) reader.forked(fork);
      setImmediate(() => this.#settle());
      return { tip: fork.tip, takenBack: fork.takenBack.length };
    });
  }

  /** First what returns after a fork, then this. */
  async #change<T>(work: () => T): Promise<T> {
    this.#settle();
    const result = work();
    this.#wake();
    return result;
  }

  #settle(): void {
    if (this.#isStopped || !this.#ledger.isRevalidating) return;
    while (this.#ledger.isRevalidating) this.#ledger.revalidateOne();
    this.#wake();
  }

  #wake(): void {
    for (const stream of this.#streams) stream.wake();
  }
}

class TestStream implements ChainStream {
  readonly reader: LedgerStream;
  readonly #closed: () => void;
  #events: ChainEvent[] = [];
  #isClosed = false;
  #wake = () => {};

  constructor(reader: LedgerStream, closed: () => void) {
    this.reader = reader;
    this.#closed = closed;
  }

  async next(): Promise<ChainEvent | null> {
    while (!this.#isClosed) {
      if (this.#events.length === 0) this.#events = this.reader.read();
      const event = this.#events.shift();
      if (event !== undefined) return event;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return null;
  }

  wake(): void {
    this.#wake();
  }

  end(): void {
    this.#isClosed = true;
    this.#wake();
  }

  async close(): Promise<void> {
    this.end();
    this.#closed();
  }
}
