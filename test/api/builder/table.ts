/** Rows of an error table: the request, and the only answer that is right. */
import assert from 'node:assert/strict';
import { bech32 } from '@scure/base';
import { formatAddress, scriptAddress } from '../../../src/cardano/codec/address.ts';
import { ARRAY, BYTES, cborHead, UNSIGNED } from '../../../src/cardano/codec/cbor.ts';
import { fromHex, toHex } from '../../../src/cardano/codec/hex.ts';
import { type OutputRef, refText } from '../../../src/cardano/codec/output.ts';
import type { DevnetWorld } from '../../e2e/devnet/world.ts';

export interface Refused {
  /** A name for the row, shown when it fails. */
  readonly what: string;
  readonly path: string;
  /** Absent: GET. */
  readonly body?: unknown;
  readonly status: number;
  readonly cause: string;
  readonly reason?: string;
  /** Pattern of the message. */
  readonly says?: RegExp;
}

export async function assertRefused(world: DevnetWorld, rows: readonly Refused[]): Promise<void> {
  for (const { what, path, body, status, cause, reason, says } of rows) {
    const answer = body === undefined ? await world.get(path) : await world.post(path, body);
    const got = `${what}: ${JSON.stringify(answer.body).slice(0, 300)}`;
    assert.deepEqual([answer.status, answer.cause], [status, cause], got);
    if (reason !== undefined) assert.equal(answer.reason, reason, got);
    if (says !== undefined) assert.match(answer.message, says, got);
    assert.ok(answer.message.length > 0, got);
    const hasDetails = Array.isArray(Reflect.get(Object(answer.body), 'details'));
    if (status === 400) assert.ok(hasDetails, got);
  }
}

const HASH = '11'.repeat(28);

/** A mainnet key, a script, a pointer, a Byron wallet, a reward account, and nonsense. */
export function wrongAddresses(): [string, string][] {
  const payment = { kind: 'key', hash: HASH } as const;
  const mainnet = { network: 'mainnet', payment, stake: null, pointer: false } as const;
  const pointer = bech32.encode('addr_test', bech32.toWords(fromHex(`40${HASH}010203`)), 1000);
  const reward = bech32.encode('stake_test', bech32.toWords(fromHex(`e0${HASH}`)), 1000);
  return [
    ['mainnet', formatAddress(mainnet)],
    ['script', scriptAddress('testnet', HASH, null)],
    ['pointer', pointer],
    ['Byron', 'Ae2tdPwUPEZFRbyhz3cpfC2CumGzNkFBN2L42rcUc2yjQpEkxDbkPodpMAi'],
    ['reward account', reward],
    ['nonsense', 'addr_test1qqqq'],
  ];
}

/** As CIP-30 has it; the content is a lie, the server reads its own. */
export function named({ txHash, index }: OutputRef): string {
  const input = [
    cborHead(ARRAY, 2),
    cborHead(BYTES, 32),
    fromHex(txHash),
    cborHead(UNSIGNED, index),
  ];
  const lie = [
    cborHead(ARRAY, 2),
    cborHead(BYTES, 29),
    fromHex(`61${HASH}`),
    cborHead(UNSIGNED, 7),
  ];
  return toHex(Buffer.concat([cborHead(ARRAY, 2), ...input, ...lie]));
}

/** One output of each of the server's keys. */
export async function serverOutputs(world: DevnetWorld): Promise<[string, OutputRef][]> {
  const { deployment } = world.kit.txContext;
  const held = async (name: string, hash: string): Promise<[string, OutputRef][]> => {
    const [utxo] = await world.chain.byPaymentKey(hash, 'spendable', { limit: 1 });
    return utxo === undefined ? [] : [[`${name} ${refText(utxo.ref)}`, utxo.ref]];
  };
  return [
    ...(await held('executor', deployment.executorKeyHash)),
    ...(await held('fee', deployment.feeKeyHash)),
    ...(await held('collateral', deployment.collateralKeyHash)),
  ];
}
