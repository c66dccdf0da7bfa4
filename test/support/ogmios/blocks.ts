/** Blocks of every era, written by hand: what Ogmios says of them, with invented headers. */
import { blake2b256 } from '../../../src/cardano/codec/hash.ts';
import type { Era } from '../../../src/devnet/ogmios/networkFacts.ts';
import { type JsonValue, jsonText } from '../../../src/engine/runtime/exactJson.ts';
import type { FakeBlock, FakeTransaction } from './chain.ts';

interface BlockPlan {
  readonly slot?: number | bigint;
  readonly height?: bigint;
  readonly id?: string;
  readonly era?: Exclude<Era, 'byron'>;
  readonly transactions?: readonly FakeTransaction[];
  /** Makes another block of the same place: a fork. */
  readonly salt?: string;
}

const PROTOCOL: Readonly<Record<Era, number>> = {
  byron: 1,
  shelley: 2,
  allegra: 3,
  mary: 4,
  alonzo: 6,
  babbage: 8,
  conway: 10,
};

const bytes = (count: number, seed: string) =>
  blake2b256(Buffer.from(seed))
    .repeat(4)
    .slice(0, 2 * count);

/** The next block after `parent`, 20 slots later; null: the first one. */
export function praosBlock(parent: FakeBlock | null, plan: BlockPlan = {}): FakeBlock {
  const { era = 'conway', transactions = [], salt = '' } = plan;
  const slot = plan.slot ?? following(parent?.slot, 20);
  const height = plan.height ?? (parent === null ? 0n : parent.height + 1n);
  const id = plan.id ?? idOf(parent, slot, salt);
  const size = transactions.reduce((sum, each) => sum + each.bytes, 0);
  const head = {
    type: 'praos',
    era,
    id,
    ancestor: parent?.id ?? 'genesis',
    ...(PROTOCOL[era] <= PROTOCOL.alonzo ? { nonce: vrf('nonce') } : {}),
    height,
    size: { bytes: size },
    slot,
    protocol: { version: { major: PROTOCOL[era], minor: 0 } },
    issuer: ISSUER,
  };
  return { slot, id, height, era, text: withTransactions(head, transactions) };
}

/** A block of Byron; `transactions` are of Byron, with inputs and outputs only. */
export function byronBlock(parent: FakeBlock | null, plan: Omit<BlockPlan, 'era'> = {}): FakeBlock {
  const { transactions = [], salt = '' } = plan;
  const slot = plan.slot ?? following(parent?.slot, 1);
  const height = plan.height ?? (parent === null ? 0n : parent.height + 1n);
  const id = plan.id ?? idOf(parent, slot, salt);
  const head = {
    type: 'bft',
    era: 'byron',
    id,
    ancestor: parent?.id ?? GENESIS_OF_BYRON,
    height,
    size: { bytes: 500 + transactions.reduce((sum, each) => sum + each.bytes, 0) },
    slot,
    protocol: {
      id: 764_824_073,
      version: { major: 1, minor: 0, patch: 0 },
      software: { appName: 'cardano-sl', number: 1 },
      update: { votes: [] },
    },
    operationalCertificates: [],
    issuer: { verificationKey: bytes(64, 'byron issuer') },
    delegate: { verificationKey: bytes(64, 'byron delegate') },
  };
  return { slot, id, height, era: 'byron', text: withTransactions(head, transactions) };
}

/**
 * The block between epochs of Byron: it has its parent's height and no transactions. Its JSON has
 * no slot; as a point it is in the first slot of its epoch.
 */
export function boundaryBlock(parent: FakeBlock | null, slot: number): FakeBlock {
  const height = parent?.height ?? 0n;
  const id = idOf(parent, slot, 'boundary');
  const ancestor = parent?.id ?? GENESIS_OF_BYRON;
  const text = jsonText({ type: 'ebb', era: 'byron', id, ancestor, height });
  return { slot, id, height, era: 'byron', text };
}

/** `count` blocks without transactions, each the child of the one before. */
export function emptyBlocks(parent: FakeBlock | null, count: number, salt = ''): FakeBlock[] {
  const blocks: FakeBlock[] = [];
  while (blocks.length < count) blocks.push(praosBlock(blocks.at(-1) ?? parent, { salt }));
  return blocks;
}

function withTransactions(
  head: Readonly<Record<string, JsonValue>>,
  transactions: readonly FakeTransaction[],
): string {
  const list = transactions.map(({ text }) => text).join();
  return `${jsonText(head).slice(0, -1)},"transactions":[${list}]}`;
}

function following(slot: number | bigint | undefined, later: number): number | bigint {
  if (typeof slot === 'bigint') return slot + BigInt(later);
  return (slot ?? 0) + later;
}

function idOf(parent: FakeBlock | null, slot: number | bigint, salt: string): string {
  return blake2b256(Buffer.from(`block ${parent?.id} ${slot} ${salt}`));
}

function vrf(seed: string): JsonValue {
  return { output: bytes(64, `${seed} output`), proof: bytes(80, `${seed} proof`) };
}

const GENESIS_OF_BYRON = '5f20df933584822601f9e3f8c024eb5eb252fe8cefb24d1317dc3d432e940ebb';

const ISSUER: JsonValue = {
  verificationKey: bytes(32, 'issuer'),
  vrfVerificationKey: bytes(32, 'vrf'),
  leaderValue: vrf('leader'),
  operationalCertificate: {
    count: 7,
    sigma: bytes(64, 'sigma'),
    kes: { period: 500, verificationKey: bytes(32, 'kes') },
  },
};
