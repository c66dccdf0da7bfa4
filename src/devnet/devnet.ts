/**
 * A small Cardano: a ledger in a file, served as Ogmios and as Kupo on local ports, with a faucet,
 * forks and blocks on demand. It knows nothing of markets: its genesis is a list of
 * outputs.
 *
 * Runs in the caller's thread, on the caller's clock; `thread.ts` runs it in a thread of its own.
 * `DevnetCore` is the same without ports.
 */
import type { OutputPlan } from '../cardano/codec/encode.ts';
import type { Utxo } from '../cardano/codec/output.ts';
import { type SlotConfig, slotAt } from '../cardano/codec/slots.ts';
import { coins } from '../cardano/codec/value.ts';
import { Key } from '../cardano/keys/keys.ts';
import { keyAddress } from '../cardano/validators/deploy.ts';
import { genesisUtxosOf } from '../cardano/validators/genesis.ts';
import { Fault } from '../engine/runtime/assert.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import { KupoAnswers, KupoServer } from './kupo/server.ts';
import { Ledger } from './ledger.ts';
import { LedgerFile } from './ledgerFile.ts';
import type { Guard } from './localHttp.ts';
import { DevnetNode } from './node.ts';
import { OgmiosServer } from './ogmios/server.ts';
import { Session, type Transport } from './ogmios/session.ts';
import type { OgmiosMajor } from './ogmios/transactionJson.ts';
import { readDevnetParameters } from './parameters.ts';
import { warmUp } from './payment.ts';
import { devnetRoute } from './routes.ts';
import type { DevnetUrls } from './thread.ts';

/** What a devnet without ports needs. */
export interface DevnetCoreOptions {
  /** The ledger's file; a new chain begins where there is none. */
  readonly file: string;
  readonly clock: Clock;
  /** Genesis outputs of a new chain, beside the faucet's; a chain with others is refused. */
  readonly genesis: readonly OutputPlan[];
  /** Also placed in a new chain; one that began without them is continued. */
  readonly aside?: readonly OutputPlan[];
  /** Continue a chain that has other genesis outputs. */
  readonly anyGenesis?: boolean;
  /** Advice for a person whose chain has other genesis outputs. */
  readonly otherGenesisHelp?: string;
  /**
   * Protocol parameters as JSON of Ogmios, from this start on; absent: those that the chain was
   * given last, else mainnet's of November 2026.
   */
  readonly parameters?: string;
  /** Ed25519 seed of the faucet, hex. */
  readonly faucetSecret: string;
  /** Between blocks, and the length of a slot; 0: blocks on demand, slots of a second. */
  readonly paceMs: number;
  readonly includeCbor?: boolean;
  /** Whose JSON it speaks; absent: 6. */
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
/** 10 billion ADA, more than requests can empty. Each output alone is below 2^53 lovelace. */
const FAUCET_LOVELACE = 500_000_000_000_000n;
const FAUCET_OUTPUTS = 20;
const OTHER_GENESIS_HELP =
  'continue it with the outputs it began with, or move it away to begin another';

/** A devnet without ports: its sessions, routes and answers are called. */
export class DevnetCore {
  readonly node: DevnetNode;
  readonly ledger: Ledger;
  readonly file: LedgerFile;
  readonly kupo: KupoAnswers;
  /** Answers `POST /devnet/v1/*`; null: no such route. */
  readonly route: ReturnType<typeof devnetRoute>;
  readonly #options: DevnetCoreOptions;
  readonly #faucetKey: Key;

  private constructor(options: DevnetCoreOptions, file: LedgerFile, faucetKey: Key) {
    const { clock, paceMs, version = VERSION } = options;
    const { includeCbor = true, ogmiosMajor = 6 } = options;
    const { stalled = () => {}, waits = () => {} } = options;
    const slots = slotsOf(file, options, faucetKey);
    if (options.anyGenesis !== true && !hasGenesis(file, options)) {
      const { otherGenesisHelp = OTHER_GENESIS_HELP } = options;
      const message = `${options.file} holds a chain of another genesis`;
      throw new Fault('otherGenesis', `${message}: ${otherGenesisHelp}`);
    }
    const slotNow = paceMs === 0 ? () => 0 : () => slotAt(slots, clock.nowMs());
    const ledger = new Ledger(file, slots, slotNow);
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

  /** What is still queued is refused. */
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

function hasGenesis(file: LedgerFile, options: DevnetCoreOptions): boolean {
  const found = hashesOf(file.genesisOutputs());
  const allowed = hashesOf(genesisUtxos(options));
  const required = hashesOf(genesisUtxos({ ...options, aside: [] }));
  const isOther = found.some((hash) => !allowed.includes(hash));
  return !isOther && required.every((hash) => found.includes(hash));
}

/** Each is a hash over all outputs that were placed together. */
function hashesOf(utxos: readonly Utxo[]): string[] {
  return [...new Set(utxos.map(({ ref }) => ref.txHash))];
}

function slotsOf(file: LedgerFile, options: DevnetCoreOptions, faucetKey: Key): SlotConfig {
  const text = file.genesis();
  if (text === null) return beginChain(file, options, faucetKey);
  // trust: `beginChain` wrote it
  const { slotConfig, faucetKeyHash } = JSON.parse(text) as ChainRecord;
  const { paceMs } = options;
  const { slotLengthMs } = slotConfig;
  if (paceMs !== 0 && paceMs !== slotLengthMs) {
    const message = `${options.file} has a block every ${slotLengthMs} ms, not every ${paceMs} ms`;
    throw new Error(`${message}: its slots cannot change; use that pace, or move the file away`);
  }
  if (faucetKeyHash !== faucetKey.hash) {
    const message = `${options.file} was made with another faucet key`;
    throw new Error(`${message}: put that key back, or move the file away to begin a new chain`);
  }
  return slotConfig;
}

interface ChainRecord {
  readonly slotConfig: SlotConfig;
  readonly faucetKeyHash: string;
}

function beginChain(file: LedgerFile, options: DevnetCoreOptions, faucetKey: Key): SlotConfig {
  const { paceMs, clock } = options;
  const slotLengthMs = paceMs === 0 ? SLOT_MS_ON_DEMAND : paceMs;
  // Whole seconds: that is how a node tells its start.
  const zeroTimeMs = Math.floor(clock.nowMs() / 1000) * 1000;
  const slotConfig = { zeroTimeMs, zeroSlot: 0, slotLengthMs };
  const kept: ChainRecord = { slotConfig, faucetKeyHash: faucetKey.hash };
  file.begin(JSON.stringify(kept), genesisUtxos(options));
  return slotConfig;
}

/** Outputs of a new chain: those of its genesis, the faucet's, and those aside. */
export function genesisUtxos({
  genesis,
  aside = [],
  faucetSecret,
}: Pick<DevnetCoreOptions, 'genesis' | 'aside' | 'faucetSecret'>): Utxo[] {
  const address = keyAddress(new Key(faucetSecret).hash);
  const faucet = { address, value: coins(FAUCET_LOVELACE) };
  // Apart from each other: where the genesis lies does not depend on the faucet's key.
  const faucets = Array.from({ length: FAUCET_OUTPUTS }, () => faucet);
  return [genesis, faucets, aside].flatMap(genesisUtxosOf);
}
