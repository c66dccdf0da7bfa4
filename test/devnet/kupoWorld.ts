/** A devnet with two payments, and what its Kupo answers. */
import assert from 'node:assert/strict';
import { decodeTransaction } from '../../src/cardano/codec/transaction.ts';
import { genesisOutputs, startDevnet } from '../support/devnetNode.ts';
import { addressOf, FEE_LOVELACE, payment } from '../support/ledgerWorld.ts';

export interface Match {
  readonly transaction_id: string;
  readonly output_index: number;
  readonly value: { readonly coins: number };
  readonly created_at: { readonly slot_no: number };
  readonly spent_at: null | {
    readonly slot_no: number;
    readonly transaction_id: string;
    readonly input_index: number;
  };
}

/** Alice pays Bob 10 ADA in block 1, Bob pays it on to Carol in block 2. */
export async function paidOn(scope: Parameters<typeof startDevnet>[0]) {
  const devnet = await startDevnet(scope);
  const { node, kupoUrl } = devnet;
  const ask = async (path: string) => {
    const response = await fetch(`${kupoUrl}${path}`);
    // trust: members are looked at one by one
    const body = (await response.json()) as Readonly<Record<string, unknown>>;
    return { status: response.status, body, headers: response.headers };
  };
  // trust: what Kupo answers to matches
  const matches = async (path: string) =>
    (await ask(`/matches/${path}`)).body as unknown as Match[];
  const source = genesisOutputs().find(({ output }) => output.address === addressOf('alice'));
  assert.ok(source);
  const first = payment(source, 'alice', 'bob', 10_000_000n);
  assert.equal(await node.submit(hexOf(first.bytes)), first.id);
  assert.equal(await node.mine(1), 1);
  const [output] = decodeTransaction(first.bytes).outputs;
  assert.ok(output);
  const received = { ref: { txHash: first.id, index: 0 }, output };
  const second = payment(received, 'bob', 'carol', 10_000_000n - FEE_LOVELACE - 2_000_000n);
  assert.equal(await node.submit(hexOf(second.bytes)), second.id);
  assert.equal(await node.mine(1), 2);
  return { devnet, ask, matches, first, second };
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
