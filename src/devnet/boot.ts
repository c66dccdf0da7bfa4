/** Opens the chain of a file, or begins one. */

import { type SlotConfig, slotAt } from '../cardano/codec/slots.ts';
import { coins } from '../cardano/codec/value.ts';
import type { Deployment } from '../cardano/datums/deployment.ts';
import { keyOf } from '../cardano/keys/keys.ts';
import { minFeeLovelace } from '../cardano/ledger/parameters.ts';
import { judge } from '../cardano/ledger/scalus.ts';
import { keyAddress } from '../cardano/validators/deploy.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import { PAYMENT_BYTES } from './faucet.ts';
import { type GenesisPlan, makeGenesis, placed } from './genesis.ts';
import { Ledger } from './ledger.ts';
import { LedgerFile } from './ledgerFile.ts';
import { type GenesisCopy, unpacked, type WorkerOptions } from './messages.ts';
import { signedPayment } from './payment.ts';

export interface Opened {
  readonly file: LedgerFile;
  readonly ledger: Ledger;
  readonly deployment: Deployment;
}

interface Kept {
  readonly slotConfig: SlotConfig;
  readonly deployment: Deployment;
}

const SLOT_MS_ON_DEMAND = 1000;

export function openLedger(options: WorkerOptions, clock: Clock): Opened {
  const file = new LedgerFile(options.file);
  const { slotConfig, deployment } = keptOrBegun(file, options);
  const isOnDemand = options.blockPaceMs === 0;
  const slotNow = isOnDemand ? () => 0 : () => slotAt(slotConfig, clock.nowMs());
  return { file, ledger: new Ledger(file, slotConfig, slotNow), deployment };
}

function keptOrBegun(file: LedgerFile, options: WorkerOptions): Kept {
  try {
    const found = kept(file) ?? begin(file, options);
    checkKeys(options, found.deployment);
    checkPace(options, found.slotConfig);
    return found;
  } catch (error) {
    file.close();
    throw error;
  }
}

function kept(file: LedgerFile): Kept | null {
  const text = file.genesis();
  return text === null ? null : readKept(text);
}

function readKept(text: string): Kept {
  // trust: `begin` wrote it, here or on another node
  return JSON.parse(text, readBigint) as Kept;
}

function begin(file: LedgerFile, options: WorkerOptions): Kept {
  const { genesis, blockPaceMs, genesisTimeMs, begun } = options;
  if (begun !== undefined) return beginAs(begun, file, options);
  const { deployment, outputs } = makeGenesis(genesis);
  const slotLengthMs = blockPaceMs === 0 ? SLOT_MS_ON_DEMAND : blockPaceMs;
  const slotConfig = { zeroTimeMs: genesisTimeMs, zeroSlot: 0, slotLengthMs };
  file.begin(JSON.stringify({ slotConfig, deployment }, writeBigint), outputs);
  return { slotConfig, deployment };
}

/** Nothing is written where its keys or its pace are not ours. */
function beginAs({ text, outputs }: GenesisCopy, file: LedgerFile, options: WorkerOptions): Kept {
  const like = readKept(text);
  checkKeys(options, like.deployment);
  checkPace(options, like.slotConfig);
  file.begin(text, outputs.map(unpacked));
  return like;
}

function writeBigint(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value;
}

function readBigint(_key: string, value: unknown): unknown {
  const isBigint = typeof value === 'string' && /^-?\d+n$/.test(value);
  return isBigint ? BigInt(value.slice(0, -1)) : value;
}

const KEYS = ['executorKeyHash', 'feeKeyHash', 'collateralKeyHash'] as const;

function checkKeys({ file, genesis }: WorkerOptions, deployment: Deployment): void {
  const isOurs = (name: (typeof KEYS)[number]) => genesis[name] === deployment[name];
  if (KEYS.every(isOurs)) return;
  throw new Error(
    `${file} was begun with other keys than keys.json holds: put both back, or remove both`,
  );
}

function checkPace({ file, blockPaceMs }: WorkerOptions, { slotLengthMs }: SlotConfig): void {
  if (blockPaceMs === 0 || blockPaceMs === slotLengthMs) return;
  const message = `${file} has a block every ${slotLengthMs} ms, ${blockPaceMs} ms were asked for`;
  throw new Error(`${message}: its slots cannot change; set that pace, or remove the file`);
}

/** The first transaction costs 0.2 s, compiled code 5 ms: judges one for nothing. */
export function warmUp(genesis: GenesisPlan, secret: string, slots: SlotConfig): void {
  const key = keyOf(secret);
  const address = keyAddress(genesis.faucetKeyHash);
  const utxos = placed([{ address, value: coins(10_000_000n) }]);
  const feeLovelace = minFeeLovelace(PAYMENT_BYTES);
  const outputs = [{ address, value: coins(10_000_000n - feeLovelace) }];
  for (let round = 0; round < 3; round += 1) {
    const inputs = utxos.map(({ ref }) => ref);
    judge(signedPayment({ inputs, outputs, feeLovelace }, [key]), utxos, slots, 0);
  }
}
