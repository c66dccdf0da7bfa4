/**
 * Cases for the foreign evaluator: a transaction of each kind as our builder makes it, and the same
 * with one lovelace more in the guarded outputs, which most scripts refuse.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseAddress } from '../../../src/cardano/codec/address.ts';
import {
  array,
  encodeOutput,
  encodeRef,
  integer,
  map,
  uint,
} from '../../../src/cardano/codec/encode.ts';
import { fromHex, toHex } from '../../../src/cardano/codec/hex.ts';
import { decodeOutput, type Utxo } from '../../../src/cardano/codec/output.ts';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import type { ProtocolParameters } from '../../../src/cardano/ledger/parameters.ts';
import { evaluate } from '../../../src/cardano/ledger/scalus.ts';
import { assemble } from '../../../src/cardano/transactions/assemble.ts';
import { PARAMETERS, PARAMETERS_544 } from '../../support/parameters.ts';
import { SLOTS } from '../transactions/world.ts';
import { plansOf } from './kinds.ts';

/** By epoch of mainnet. 642 had the cost models of 645 and protocol version 10. */
export const EPOCHS: Readonly<Record<string, ProtocolParameters>> = {
  544: PARAMETERS_544,
  642: { ...PARAMETERS, version: { major: 10, minor: 0 } },
  645: PARAMETERS,
};

export interface Case {
  /** Kind and epoch, and whether it is hostile. */
  readonly name: string;
  readonly epoch: string;
  readonly tx: Uint8Array;
  readonly utxos: readonly Utxo[];
}

/** `purpose index memory/cpu` of each redeemer, sorted as texts; null: a script fails. */
export type Verdict = readonly string[] | null;

export function casesOf(epoch: string): Case[] {
  const parameters = EPOCHS[epoch] ?? assert.fail(epoch);
  const terms = { parameters, slots: SLOTS };
  return Object.entries(plansOf(parameters)).flatMap(([kind, plan]): Case[] => {
    const around = {
      parameters,
      evaluate: (tx: Uint8Array, utxos: readonly Utxo[]) => evaluate(tx, utxos, terms),
    };
    const built = assemble(structuredClone(plan), around);
    assert.ok(built.outcome === 'built', `${kind}: ${'message' in built ? built.message : ''}`);
    const utxos = [...built.inputs, ...plan.references];
    const one = { name: `${kind}, epoch ${epoch}`, epoch, tx: built.bytes, utxos };
    const richer = built.inputs.map(withMore);
    if (richer.every((utxo, at) => utxo === built.inputs[at])) return [one];
    const other = {
      ...one,
      name: `${one.name}, one lovelace more`,
      utxos: [...richer, ...plan.references],
    };
    return [one, other];
  });
}

/** The same output of a Plutus script with one lovelace more; others as they are. */
function withMore(utxo: Utxo): Utxo {
  const { address, value, datum } = utxo.output;
  if (parseAddress(address)?.payment.kind !== 'script' || datum === null) return utxo;
  const more = { lovelace: value.lovelace + 1n, assets: value.assets };
  return { ref: utxo.ref, output: decodeOutput(encodeOutput({ address, value: more, datum })) };
}

interface Ran {
  readonly purpose: string;
  readonly index: number;
  readonly memory: bigint | number;
  readonly cpu: bigint | number;
}

function sorted(ran: readonly Ran[]): string[] {
  return ran
    .map(({ purpose, index, memory, cpu }) => `${purpose} ${index} ${memory}/${cpu}`)
    .sort();
}

/** The units that the transaction declares. */
export function declared({ tx }: Pick<Case, 'tx'>): Verdict {
  return sorted(decodeTransaction(tx).redeemers);
}

export function ours({ tx, utxos, epoch }: Pick<Case, 'tx' | 'utxos' | 'epoch'>): Verdict {
  const parameters = EPOCHS[epoch] ?? assert.fail(epoch);
  const found = evaluate(tx, utxos, { parameters, slots: SLOTS });
  if (found.outcome === 'failed') return null;
  return sorted(found.budgets);
}

const PROGRAM = join(import.meta.dirname, 'uplc/target/release/judge');

/** Why it cannot be asked; false: it can. */
export const missing: string | false = existsSync(PROGRAM)
  ? false
  : 'uplc is not built: `npm run test:judge` builds it with cargo';

/** Each case's verdict by the foreign program. */
export function theirs(cases: readonly Case[]): Verdict[] {
  const lines = cases.map((each) => JSON.stringify(question(each)));
  const ran = spawnSync(PROGRAM, { input: lines.join('\n'), maxBuffer: 1 << 26, encoding: 'utf8' });
  assert.equal(ran.status, 0, ran.stderr);
  return ran.stdout
    .trim()
    .split('\n')
    .map((line) => {
      // trust: what `uplc/src/main.rs` writes
      const { units } = JSON.parse(line) as { units?: [string, number, number, number][] };
      if (units === undefined) return null;
      return sorted(
        units.map(([purpose, index, memory, cpu]) => ({ purpose, index, memory, cpu })),
      );
    });
}

function question({ name, tx, utxos, epoch }: Case) {
  const { costModels, version, maxMemory, maxCpu } = EPOCHS[epoch] ?? assert.fail(epoch);
  const models = costModels.map((model, at): [Uint8Array, Uint8Array] => {
    return [uint(at), array(model.map(integer))];
  });
  return {
    name,
    tx: toHex(tx),
    utxos: utxos.map(({ ref, output }) => [toHex(encodeRef(ref)), toHex(fromHex(output.cbor))]),
    costModels: toHex(map(models)),
    slots: [SLOTS.zeroTimeMs, SLOTS.zeroSlot, SLOTS.slotLengthMs],
    protocol: version.major,
    memory: Number(maxMemory),
    cpu: Number(maxCpu),
    // It knows no native scripts, so it would miss them.
    phaseOne: decodeTransaction(tx).redeemers.length > 0,
  };
}
