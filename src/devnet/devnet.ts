import { type SlotConfig, slotAt } from '../cardano/codec/slots.ts';
import { Key } from '../cardano/keys/keys.ts';
import { effectsOf } from '../cardano/ledger/mempool.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import {
  type ChainOptions,
  type ChainRecord,
  chainRecord,
  chainSlots,
  genesisUtxos,
  hasGenesis,
} from './chainFile.ts';
import { type RecordedHistory, readHistory, recordedBlocks } from './history.ts';
import { KupoAnswers, KupoServer } from './kupo/server.ts';
import { blockAfter, Ledger } from './ledger.ts';
import { type BlockRecord, LedgerFile } from './ledgerFile.ts';
import type { Guard } from './localHttp.ts';
import { DevnetNode } from './node.ts';
import { OgmiosServer } from './ogmios/server.ts';
import { Session, type Transport } from './ogmios/session.ts';
import type { OgmiosMajor } from './ogmios/transactionJson.ts';
import { readDevnetParameters } from './parameters.ts';
import { warmUp } from './payment.ts';
import { devnetRoute } from './routes.ts';
import type { DevnetUrls } from './thread.ts';

/** Options of a devnet without ports. */
export interface DevnetCoreOptions extends ChainOptions {
  readonly clock: Clock;
  /**
   * Protocol parameters as JSON of Ogmios, from this start on. Absent: the chain's last ones, or
   * mainnet's of November 2026 for a new chain.
   */
  readonly parameters?: string;
  readonly includeCbor?: boolean;
  /** The version of Ogmios whose JSON it speaks; absent: 6. */
  readonly ogmiosMajor?: OgmiosMajor;
  readonly version?: string;
  /** How many blocks keep their transactions, at least K; `BLOCKS_KEPT` where absent. */
  readonly blocksKept?: number;
  /** The disk refuses to be written, which is tried again; null: it takes it again. */
  readonly stalled?: (message: string | null) => void;
  /** No block is made before the clock is there; null: blocks are made again. */
  readonly waits?: (message: string | null) => void;
}

export interface DevnetOptions extends DevnetCoreOptions {
  readonly host?: string;
  /** 0 or absent: any. */
  readonly ogmiosPort?: number;
  readonly kupoPort?: number;
  readonly guard?: Guard;
}

const HOST = '127.0.0.1';
const VERSION = 'devnet';
/** The version of Ogmios whose schema its messages follow. */
const SPOKEN: Readonly<Record<OgmiosMajor, string>> = { 6: 'v6.14.0', 7: 'v7.0.0' };
const SLOT_MS_ON_DEMAND = 1000;

/** A devnet without ports: its sessions, routes and answers are called. */
export class DevnetCore {
  readonly node: DevnetNode;
  readonly ledger: Ledger;
  readonly file: LedgerFile;
  readonly kupo: KupoAnswers;
  /** Answers `POST /devnet/v1/*`; null: no such route. */
  readonly route: ReturnType<typeof devnetRoute>;
  /** Up to when its past is a recorded one; null: it has none. */
  readonly liveSinceMs: number | null;
  readonly #options: DevnetCoreOptions;
  readonly #faucetKey: Key;

  private constructor(options: DevnetCoreOptions, file: LedgerFile, faucetKey: Key) {
    const { clock, paceMs, version = VERSION } = options;
    const { includeCbor = true, ogmiosMajor = 6 } = options;
    const { stalled = () => {}, waits = () => {} } = options;
    const slots = chainSlots(file, options) ?? beginChain(file, options, faucetKey);
    const slotNow = paceMs === 0 ? () => 0 : () => slotAt(slots, clock.nowMs());
    const ledger = new Ledger(file, slots, slotNow);
    this.liveSinceMs = chainRecord(file)?.liveSinceMs ?? null;
    if (options.parameters !== undefined) {
      const failure = ledger.changeParameters(readDevnetParameters(options.parameters));
      if (failure !== null) throw new Error(failure.message);
    }
    this.file = file;
    this.ledger = ledger;
    this.#options = options;
    this.#faucetKey = faucetKey;
    const shown = { includeCbor, ogmiosMajor };
    this.node = new DevnetNode({
      ledger,
      file,
      clock,
      faucetKey,
      paceMs,
      ...shown,
      stalled,
      waits,
    });
    this.kupo = new KupoAnswers(ledger, file, { clock, version });
    this.route = devnetRoute(this.node);
  }

  /**
   * Throws where the file is of another version, pace, faucet or genesis, or where another process
   * has it: the message says what to do. Blocks are made after `start` of its node.
   */
  static open(options: DevnetCoreOptions): DevnetCore {
    const faucetKey = new Key(options.faucetSecret);
    const file = new LedgerFile(options.file, 0, options.blocksKept);
    try {
      return new DevnetCore(options, file, faucetKey);
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /** A connection to its Ogmios; the caller ends it. */
  session(transport: Transport): Session {
    return new Session(this.node, transport);
  }

  /** Refuses queued requests. */
  stop(): void {
    this.node.stop();
    this.file.close();
  }

  /** Whether the chain has the genesis outputs of its options. */
  get isOfGenesis(): boolean {
    return hasGenesis(this.file, this.#options);
  }

  /** The first transaction is then judged as fast as others. Holds the thread for 0.2 s. */
  warmUp(): void {
    warmUp(this.#faucetKey, this.ledger.terms);
  }
}

export class Devnet implements DevnetUrls {
  readonly #core: DevnetCore;
  readonly #host: string;
  readonly #ogmios: OgmiosServer;
  readonly #kupo: KupoServer;

  private constructor(options: DevnetOptions, core: DevnetCore) {
    const { clock, version = VERSION, host = HOST, guard = { hosts: [] } } = options;
    const { ogmiosPort = 0, kupoPort = 0, ogmiosMajor = 6 } = options;
    this.#core = core;
    this.#host = host;
    const { node, kupo, route } = core;
    const common = { host, guard, clock, version };
    const spoken = `${SPOKEN[ogmiosMajor]} (upcurve ${version})`;
    const ofOgmios = { ...common, version: spoken, port: ogmiosPort, route };
    this.#ogmios = new OgmiosServer(node, ofOgmios);
    this.#kupo = new KupoServer(kupo, { ...common, port: kupoPort });
  }

  /** Rejects as `DevnetCore.open` throws, and where a port is taken. */
  static async open(options: DevnetOptions): Promise<Devnet> {
    const core = DevnetCore.open(options);
    try {
      const devnet = new Devnet(options, core);
      await devnet.#start();
      return devnet;
    } catch (error) {
      core.stop();
      throw error;
    }
  }

  async #start(): Promise<void> {
    await this.#kupo.start();
    try {
      await this.#ogmios.start();
    } catch (error) {
      await this.#kupo.stop();
      throw error;
    }
    this.node.start();
  }

  async stop(): Promise<void> {
    this.node.stop();
    await this.#ogmios.stop();
    await this.#kupo.stop();
    this.#core.stop();
  }

  get node(): DevnetNode {
    return this.#core.node;
  }

  /** Whether the chain has the genesis outputs of its options. */
  get isOfGenesis(): boolean {
    return this.#core.isOfGenesis;
  }

  /** The first transaction is then judged as fast as others. Holds the thread for 0.2 s. */
  warmUp(): void {
    this.#core.warmUp();
  }

  get liveSinceMs(): number | null {
    return this.#core.liveSinceMs;
  }

  get ogmiosUrl(): string {
    return `ws://${this.#host}:${this.#ogmios.port}`;
  }

  get kupoUrl(): string {
    return `http://${this.#host}:${this.#kupo.port}`;
  }

  get devnetUrl(): string {
    return `http://${this.#host}:${this.#ogmios.port}`;
  }
}

function beginChain(file: LedgerFile, options: DevnetCoreOptions, faucetKey: Key): SlotConfig {
  const { paceMs, clock, historyFile } = options;
  const slotLengthMs = paceMs === 0 ? SLOT_MS_ON_DEMAND : paceMs;
  const history = historyFile === undefined ? null : readHistory(historyFile);
  if (history !== null && history.slotMs !== slotLengthMs) {
    throw new Error(`${historyFile} has slots of ${history.slotMs} ms, not of ${slotLengthMs} ms`);
  }
  // Whole seconds: that is how a node tells its start.
  const nowMs = Math.floor(clock.nowMs() / 1000) * 1000;
  const pastMs = history === null ? 0 : (history.lastSlot + 1) * slotLengthMs;
  const slotConfig = { zeroTimeMs: nowMs - pastMs, zeroSlot: 0, slotLengthMs };
  const past = history === null ? {} : { liveSinceMs: nowMs };
  const kept: ChainRecord = { slotConfig, faucetKeyHash: faucetKey.hash, ...past };
  file.begin(JSON.stringify(kept), genesisUtxos(options), history === null ? [] : chained(history));
  return slotConfig;
}

function* chained(history: RecordedHistory): Iterable<BlockRecord> {
  let parent: BlockRecord | null = null;
  for (const { slot, transactions } of recordedBlocks(history)) {
    const inside = transactions.map((tx) => ({ tx, effects: effectsOf(tx) }));
    parent = blockAfter(parent, slot, inside);
    yield parent;
  }
}
