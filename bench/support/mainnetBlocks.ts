/**
 * Blocks as large as mainnet's, without any transaction of the launchpad: payments, transfers of
 * tokens, orders and batches of another exchange. The transactions are real ones as bytes, so that
 * their JSON has the size that Ogmios gives them; signatures and scripts are of no meaning.
 */
import {
  array,
  byteString,
  encodeAssets,
  encodeOutput,
  encodeRefs,
  type NewOutput,
  uint,
} from '../../src/cardano/codec/encode.ts';
import { blake2b256 } from '../../src/cardano/codec/hash.ts';
import { fromHex } from '../../src/cardano/codec/hex.ts';
import { decodeTransaction } from '../../src/cardano/codec/transaction.ts';
import { asValue } from '../../src/cardano/codec/value.ts';
import { servedTransaction } from '../../src/devnet/ogmios/transactionJson.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { addressOf, keyNamed } from '../../test/support/ledgerWorld.ts';
import { praosBlock } from '../../test/support/ogmios/blocks.ts';
import type { FakeBlock, FakeTransaction } from '../../test/support/ogmios/chain.ts';
import { ALWAYS, type RawPlan, rawTransaction } from '../../test/support/rawTransaction.ts';

/** A block of mainnet holds at most 90,112 bytes. */
const BODY_BYTES = 88_000;
/** Different lists of transactions; blocks have them in turns. */
const LISTS = 16;

export interface Content {
  /** JSON of the list of transactions. */
  readonly text: string;
  readonly bodyBytes: number;
  readonly transactions: number;
}

/** The same on every run. */
export function fullContents(): Content[] {
  const rng = seededRng(90_112);
  const makers = [payment, payment, payment, transfer, transfer, order, order, batch];
  const pick = () => makers[Math.floor(rng.unit() * makers.length)] ?? payment;
  return Array.from({ length: LISTS }, (_, list) => {
    const transactions: FakeTransaction[] = [];
    let bodyBytes = 0;
    for (let at = 0; bodyBytes < BODY_BYTES; at += 1) {
      const { bytes } = rawTransaction(pick()(`${list} ${at}`));
      transactions.push(servedTransaction(decodeTransaction(bytes)));
      bodyBytes += bytes.length;
    }
    const text = `[${transactions.map((tx) => tx.text).join()}]`;
    return { text, bodyBytes, transactions: transactions.length };
  });
}

export const EMPTY: Content = { text: '[]', bodyBytes: 0, transactions: 0 };

/** `count` blocks after `parent`; their JSON is put together when it is asked for. */
export function blocksOf(
  contents: readonly Content[],
  parent: FakeBlock | null,
  count: number,
  salt = '',
): FakeBlock[] {
  const blocks: FakeBlock[] = [];
  while (blocks.length < count) {
    const block = praosBlock(blocks.at(-1) ?? parent, { salt });
    const head = block.text.slice(0, -'[]}'.length);
    const { text } = contents[blocks.length % contents.length] ?? EMPTY;
    blocks.push({
      ...{ slot: block.slot, id: block.id, height: block.height, era: block.era },
      get text() {
        return `${head}${text}}`;
      },
    });
  }
  return blocks;
}

const ADA = 1_000_000n;
const SIGNERS = [keyNamed('one'), keyNamed('two')];

function refs(seed: string, count: number) {
  return Array.from({ length: count }, (_, at) => ({
    txHash: blake2b256(Buffer.from(`${seed} ${at}`)),
    index: at % 5,
  }));
}

function tokens(seed: string, count: number, lovelace: bigint): NewOutput['value'] {
  const hashes = refs(`token ${seed}`, count).map(({ txHash }) => txHash);
  return asValue(
    lovelace,
    hashes.map((hash, at) => [`${hash.slice(0, 56)}.${hash.slice(8, 36)}`, BigInt(at + 1) * ADA]),
  );
}

/** Plutus data of about `bytes` bytes, hex. */
function datum(seed: string, bytes: number): string {
  const hashes = refs(`datum ${seed}`, Math.ceil(bytes / 34)).map(({ txHash }) => txHash);
  return Buffer.from(array(hashes.map((hash) => byteString(fromHex(hash))))).toString('hex');
}

function payment(seed: string): RawPlan {
  const outputs = ['bob', 'alice'].map((to) => ({
    address: addressOf(to),
    value: asValue(7n * ADA, []),
  }));
  const fields = { 3: uint(150_000_000) };
  return { inputs: refs(seed, 2), outputs, feeLovelace: 172_000n, keys: SIGNERS.slice(1), fields };
}

function transfer(seed: string): RawPlan {
  const outputs = [
    { address: addressOf('bob'), value: tokens(seed, 2, 2n * ADA) },
    { address: addressOf('alice'), value: tokens(`${seed} rest`, 9, 40n * ADA) },
  ];
  return { inputs: refs(seed, 3), outputs, feeLovelace: 190_000n, keys: SIGNERS };
}

function order(seed: string): RawPlan {
  const outputs = [
    { address: addressOf('venue'), value: tokens(seed, 1, 5n * ADA), datum: datum(seed, 250) },
    { address: addressOf('alice'), value: tokens(`${seed} rest`, 5, 60n * ADA) },
  ];
  const fields = { 3: uint(150_000_000), 18: encodeRefs(refs(`${seed} reference`, 1)) };
  return { inputs: refs(seed, 2), outputs, feeLovelace: 200_000n, keys: SIGNERS, fields };
}

/** Ten orders and their pool, spent by scripts. */
function batch(seed: string): RawPlan {
  const inputs = refs(seed, 11);
  const pool = {
    address: addressOf('venue'),
    value: tokens(seed, 3, 90_000n * ADA),
    datum: datum(seed, 300),
  };
  const paid = inputs.slice(1).map((_, at) => ({
    address: addressOf(`user ${at}`),
    value: tokens(`${seed} ${at}`, 1, 2n * ADA),
  }));
  return {
    inputs,
    outputs: [pool, ...paid],
    feeLovelace: 900_000n,
    keys: SIGNERS,
    scripts: [ALWAYS],
    redeemers: inputs.map((_, index) => ({ tag: 0, index, memory: 900_000n, cpu: 300_000_000n })),
    fields: {
      3: uint(150_000_000),
      8: uint(149_990_000),
      9: encodeAssets(tokens(`${seed} minted`, 1, 0n).assets),
      13: encodeRefs(refs(`${seed} collateral`, 1)),
      16: encodeOutput({ address: addressOf('alice'), value: asValue(4n * ADA, []) }),
      17: uint(1_350_000),
      18: encodeRefs(refs(`${seed} references`, 3)),
    },
  };
}
