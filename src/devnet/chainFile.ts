/**
 * Whether a devnet's file holds a chain that a devnet with these options can continue. Loads no
 * ledger rules, so that a server can ask before it opens its market.
 */
import { existsSync } from 'node:fs';
import type { NewOutput } from '../cardano/codec/encode.ts';
import type { Utxo } from '../cardano/codec/output.ts';
import type { SlotConfig } from '../cardano/codec/slots.ts';
import { coins } from '../cardano/codec/value.ts';
import { Key } from '../cardano/keys/keys.ts';
import { keyAddress } from '../cardano/validators/deploy.ts';
import { genesisUtxosOf } from '../cardano/validators/genesis.ts';
import { Fault } from '../engine/runtime/assert.ts';
import { LedgerFile } from './ledgerFile.ts';

export interface ChainOptions {
  /** The ledger's file; a new chain begins where there is none. */
  readonly file: string;
  /** Genesis outputs of a new chain, beside the faucet's; a chain with others is refused. */
  readonly genesis: readonly NewOutput[];
  /** More outputs of a new chain; a chain that began without them is continued. */
  readonly aside?: readonly NewOutput[];
  /** Continue a chain that has other genesis outputs. */
  readonly anyGenesis?: boolean;
  /** Advice for a person whose chain has other genesis outputs. */
  readonly otherGenesisHelp?: string;
  /** Ed25519 seed of the faucet, hex. */
  readonly faucetSecret: string;
  /** A recorded past of a new chain; its genesis is that of the recording. Absent: none. */
  readonly historyFile?: string;
  /** Between blocks, and the length of a slot; 0: blocks on demand, slots of a second. */
  readonly paceMs: number;
}

/** null: the file is new. */
export function chainRecord(file: LedgerFile): ChainRecord | null {
  const text = file.genesis();
  // trust: `beginChain` wrote it
  return text === null ? null : (JSON.parse(text) as ChainRecord);
}

/** The beginning of a chain, from its file. */
export interface ChainRecord {
  readonly slotConfig: SlotConfig;
  readonly faucetKeyHash: string;
  /** It began with a recorded past, up to this moment. */
  readonly liveSinceMs?: number;
}

/** 10 billion ADA, more than requests can empty. Each output alone is below 2^53 lovelace. */
const FAUCET_LOVELACE = 500_000_000_000_000n;
const FAUCET_OUTPUTS = 20;
const OTHER_GENESIS_HELP =
  'continue it with the outputs it began with, or move it away to begin another';

/** Throws where the chain in the file cannot be continued, or another process has it. */
export function checkChainFile(options: ChainOptions): void {
  const file = new LedgerFile(options.file);
  try {
    chainSlots(file, options);
  } finally {
    file.close();
  }
}

/** Whether a chain began in the file; a file of a start that was cut short has none. */
export function holdsChain(path: string): boolean {
  if (!existsSync(path)) return false;
  const file = new LedgerFile(path);
  try {
    return chainRecord(file) !== null;
  } finally {
    file.close();
  }
}

/**
 * The slots of a chain that these options can continue; null: the file is new. Throws where they
 * cannot: the message says what to do.
 */
export function chainSlots(file: LedgerFile, options: ChainOptions): SlotConfig | null {
  const record = chainRecord(file);
  if (record === null) return null;
  const { slotConfig, faucetKeyHash } = record;
  const { paceMs } = options;
  const { slotLengthMs } = slotConfig;
  if (paceMs !== 0 && paceMs !== slotLengthMs) {
    const message = `${options.file} has a block every ${slotLengthMs} ms, not every ${paceMs} ms`;
    throw new Error(`${message}: its slots cannot change; use that pace, or move the file away`);
  }
  if (faucetKeyHash !== new Key(options.faucetSecret).hash) {
    const message = `${options.file} was made with another faucet key`;
    throw new Error(`${message}: put that key back, or move the file away to begin a new chain`);
  }
  if (options.anyGenesis !== true && !hasGenesis(file, options)) {
    const { otherGenesisHelp = OTHER_GENESIS_HELP } = options;
    const message = `${options.file} holds a chain of another genesis`;
    throw new Fault('otherGenesis', `${message}: ${otherGenesisHelp}`);
  }
  return slotConfig;
}

/** Whether the chain has the genesis outputs of the options. */
export function hasGenesis(file: LedgerFile, options: ChainOptions): boolean {
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

/** Outputs of a new chain: genesis, faucet and `aside`. */
export function genesisUtxos({
  genesis,
  aside = [],
  faucetSecret,
}: Pick<ChainOptions, 'genesis' | 'aside' | 'faucetSecret'>): Utxo[] {
  const address = keyAddress(new Key(faucetSecret).hash);
  const faucet = { address, value: coins(FAUCET_LOVELACE) };
  // Apart from each other: where the genesis lies does not depend on the faucet's key.
  const faucets = Array.from({ length: FAUCET_OUTPUTS }, () => faucet);
  return [genesis, faucets, aside].flatMap(genesisUtxosOf);
}
