/**
 * Nodes of one market inside the test's process, over a real nats-server and one devnet, whose
 * blocks come on demand.
 */
import assert from 'node:assert/strict';
import { TIP } from '../../src/engine/fold/chainRows.ts';
import { Failure, Unavailable } from '../../src/engine/runtime/errors.ts';
import { readTraderConfig } from '../../src/traders/config.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { addressOf, keyNamed } from '../support/ledgerWorld.ts';
import { type Environment, type Scope, temporaryDirectory } from '../support/server.ts';
import { untilAsked } from '../support/until.ts';
import { type SharedDevnet, startSharedDevnet } from './sharedDevnet.ts';

const ADA = 1_000_000n;
const LIMIT_MS = 90_000;
const NAMES = ['alice', 'bob', 'carol'];
const VIEWS = ['spendable', 'newest', 'wallet'] as const;

export interface TestMarket {
  /** nats-server, or a way to it. */
  readonly server: { readonly url: string };
  /** The chain that all nodes follow. */
  readonly chain: SharedDevnet;
  readonly snapshotEvery: number;
}

export async function newMarket(
  scope: Scope,
  server: TestMarket['server'],
  snapshotEvery: number,
): Promise<TestMarket> {
  return { server, snapshotEvery, chain: await startSharedDevnet(scope, 0) };
}

export function startNode(
  scope: Scope,
  { server, chain, snapshotEvery }: TestMarket,
  name: string,
  directory = temporaryDirectory(),
  more: Environment = {},
): Promise<TestApp> {
  const env = {
    ...chain.env,
    NATS_URL: server.url,
    NODE_NAME: name,
    LEASE_MS: '2000',
    SNAPSHOT_EVERY: String(snapshotEvery),
    HORIZON_BLOCKS: '30',
    ...more,
  };
  const devnet = { traders: readTraderConfig(), pace: 0, seed: 1 };
  return startTestApp(scope, { directory, env, devnet });
}

/** Pays test users and makes blocks, through any node. */
export async function trade(node: TestApp, rounds: number, blocks = 4): Promise<void> {
  const devnet = node.app.chain?.devnet;
  assert.ok(devnet != null);
  for (let round = 0; round < rounds; round += 1) {
    const address = addressOf(NAMES[round % NAMES.length] ?? '');
    const paid = () => devnet.faucet(address, (20n + BigInt(round)) * ADA);
    await untilAsked('paid', paid, (done) => !(done instanceof Failure), LIMIT_MS);
    const mined = () => devnet.mine(blocks);
    await untilAsked('mined', mined, (done) => !(done instanceof Failure), LIMIT_MS);
  }
}

/** The whole state that a node shows, with its position. */
export async function picture(node: TestApp) {
  const utxos = node.app.chain?.txContext.utxos ?? assert.fail('it has a chain');
  const refs: Record<string, string[]> = {};
  for (const name of NAMES) {
    for (const view of VIEWS) {
      const found = await utxos.byPaymentKey(keyNamed(name).hash, view);
      refs[`${name} ${view}`] = found.map(({ ref }) => `${ref.txHash}#${ref.index}`).sort();
    }
  }
  const tip = node.app.node.fold.store.get('market', TIP);
  const waiting = [...node.app.node.fold.mempool.ids()].sort();
  const { epoch, seq } = node.app.node.applied();
  const isStale = node.app.chain?.isStale();
  return { epoch, seq, stateHash: node.app.node.stateHash(), tip, refs, waiting, isStale };
}

type Picture = Awaited<ReturnType<typeof picture>>;

/** All nodes come to show the same state, and none is stale. */
export async function same(...nodes: readonly TestApp[]): Promise<void> {
  let all: readonly (Picture | null)[] = [];
  const look = async () => {
    all = await Promise.all(nodes.map(pictureNow));
    const texts = new Set(all.map((one) => JSON.stringify(one)));
    return texts.size === 1 && all[0]?.isStale === false;
  };
  const isSame = (found: boolean) => found;
  await untilAsked('all show the same', look, isSame, LIMIT_MS).catch((error: unknown) => {
    const [first, ...others] = all;
    for (const other of others) assert.deepEqual(other, first);
    throw error;
  });
}

/** null: its index of outputs does not answer now. */
async function pictureNow(node: TestApp): Promise<Picture | null> {
  try {
    return await picture(node);
  } catch (error) {
    if (error instanceof Unavailable) return null;
    throw error;
  }
}
