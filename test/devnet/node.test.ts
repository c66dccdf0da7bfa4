/**
 * The devnet as a node: its pace, its faucet, the depth of its rollbacks, and the blocks that it
 * keeps.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { formatAddress } from '../../src/cardano/codec/address.ts';
import type { Utxo } from '../../src/cardano/codec/output.ts';
import { Devnet } from '../../src/devnet/devnet.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { devnetOptions, genesisOutputs, startDevnet } from '../support/devnetNode.ts';
import { addressOf, keyNamed, payment, secretOf } from '../support/ledgerWorld.ts';
import { untilAsked } from '../support/until.ts';

const ADA = 1_000_000n;

let started: Promise<Devnet> | null = null;

/** One devnet, shared by all tests that do not depend on its history. */
function someDevnet(): Promise<Devnet> {
  started ??= startDevnet({ after: () => {} });
  return started;
}

after(async () => (await started)?.stop());

interface Match {
  readonly address: string;
  readonly value: { readonly coins: number };
}

async function unspentOf({ kupoUrl }: Devnet, pattern: string): Promise<readonly Match[]> {
  const answer = await fetch(`${kupoUrl}/matches/${pattern}?unspent`);
  // trust: what Kupo answers to matches
  return (await answer.json()) as Match[];
}

function hexOf({ bytes }: { readonly bytes: Uint8Array }): string {
  return Buffer.from(bytes).toString('hex');
}

function heightOf({ node }: Devnet): number {
  return Number(node.chain.tip?.height ?? 0);
}

test('the faucet gives again and again within one block', async () => {
  const devnet = await someDevnet();
  for (let round = 0; round < 30; round += 1) {
    const outcome = await devnet.node.faucet(addressOf('zoe'), 10n * ADA);
    assert.ok(!(outcome instanceof Failure) && outcome.outcome === 'accepted');
  }
  assert.equal(typeof (await devnet.node.mine(1)), 'number');
  const found = await unspentOf(devnet, addressOf('zoe'));
  assert.deepEqual(
    found.map(({ value }) => value.coins),
    Array(30).fill(10_000_000),
  );
});

test('the faucet pays to base addresses, too', async () => {
  const devnet = await someDevnet();
  const [payment, stake] = [keyNamed('yves'), keyNamed('stake')].map(({ hash }) => {
    return { kind: 'key', hash } as const;
  });
  assert.ok(payment && stake);
  const address = formatAddress({ network: 'testnet', payment, stake, pointer: false });
  const outcome = await devnet.node.faucet(address, 10n * ADA);
  assert.ok(!(outcome instanceof Failure) && outcome.outcome === 'accepted');
  await devnet.node.mine(1);
  const [found] = await unspentOf(devnet, address);
  assert.equal(found?.address, address);
});

test('the faucet refuses other networks and unreasonable amounts', async () => {
  const { node } = await someDevnet();
  const mainnet = 'addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8';
  for (const [address, lovelace] of [
    [mainnet, 10n * ADA],
    ['nonsense', 10n * ADA],
    [addressOf('zoe'), 1n],
    [addressOf('zoe'), -5n * ADA],
    [addressOf('zoe'), 1n << 80n],
  ] as const) {
    const outcome = await node.faucet(address, lovelace);
    assert.ok(!(outcome instanceof Failure) && outcome.outcome === 'refused', `${lovelace}`);
    assert.equal(outcome.reason, 'REFUSED');
  }
});

test('makes a block in every slot; the clock catches up with those asked for', async (scope) => {
  const devnet = await startDevnet(scope, { paceMs: 50 });
  const { facts, chain } = devnet.node;
  const newestSlot = () => Math.floor((Date.now() - Date.parse(facts.startTime)) / 50);
  await untilAsked(
    'ten blocks',
    async () => heightOf(devnet),
    (height) => height >= 10,
  );
  const { tip } = chain;
  assert.ok(tip !== null && Number(tip.slot) <= newestSlot(), 'no block comes before its slot');
  const last = await devnet.node.mine(20);
  assert.ok(typeof last === 'number' && last >= Number(tip.height) + 20);
  const { slot } = chain.tip ?? assert.fail();
  const next = await untilAsked(
    'the next',
    async () => chain.tip,
    (found) => Number(found?.height) > last,
  );
  assert.ok(next && Number(next.slot) > Number(slot));
  assert.ok(Number(next.slot) <= newestSlot(), 'it waited for the clock');
});

test('keeps its chain and its slots over a restart', async (scope) => {
  const options = devnetOptions();
  const first = await startDevnet(scope, options);
  await first.node.faucet(addressOf('zoe'), 10n * ADA);
  await first.node.mine(3);
  const [{ tip }, { startTime }] = [first.node.chain, first.node.facts];
  await first.stop();
  const second = await startDevnet(scope, options);
  assert.deepEqual([second.node.chain.tip, second.node.facts.startTime], [tip, startTime]);
  assert.equal((await unspentOf(second, addressOf('zoe'))).length, 1);
});

test('does not start on a file in use, of another faucet or of another pace', async (scope) => {
  const options = devnetOptions();
  const devnet = await startDevnet(scope, options);
  await assert.rejects(Devnet.open(options), /in use by another/);
  await devnet.stop();
  const faucetSecret = secretOf('other');
  await assert.rejects(Devnet.open({ ...options, faucetSecret }), /another faucet key/);
  await assert.rejects(Devnet.open({ ...options, paceMs: 200 }), /pace/);
});

test('goes back no further than 2,160 blocks below its highest', async (scope) => {
  const { node } = await startDevnet(scope);
  await node.mine(3);
  for (const depth of [0, -1]) {
    assert.ok((await node.fork(depth, 'all')) instanceof Failure, `depth ${depth}`);
  }
  assert.equal(await node.fork(9, 'all'), 0, 'fewer where there are fewer');
  await node.mine(2203);
  assert.ok((await node.fork(2161, 'all')) instanceof Failure);
  assert.equal(await node.fork(2160, 'all'), 43);
  assert.ok((await node.fork(1, 'all')) instanceof Failure, 'what was settled stays');
});

test('answers others while transactions are judged without a pause', async (scope) => {
  const devnet = await startDevnet(scope);
  const source: Utxo = genesisOutputs()[0] ?? assert.fail('alice has outputs');
  let isAnswered = false;
  let extra = 0n;
  const submitUntilAnswered = async () => {
    while (!isAnswered) {
      extra += 1n;
      await devnet.node.submit(hexOf(payment(source, 'alice', 'bob', 2n * ADA + extra)));
    }
  };
  const rivals = Array.from({ length: 50 }, submitUntilAnswered);
  const answer = await fetch(`${devnet.devnetUrl}/health`);
  isAnswered = true;
  assert.equal(answer.status, 200);
  await Promise.all(rivals);
});
