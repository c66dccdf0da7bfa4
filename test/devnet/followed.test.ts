/**
 * A devnet as a server uses it: it answers a submission, a gift, a block and a rollback once the
 * server's own state shows the effect. Time that does not move by itself proves that no answer is
 * due to a limit.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Utxo } from '../../src/cardano/codec/output.ts';
import { chainTip } from '../../src/chain/chainPoints.ts';
import { Follower } from '../../src/chain/follower.ts';
import { KupoLookup } from '../../src/chain/kupo/kupo.ts';
import { MempoolOverlay, shownSubmitter } from '../../src/chain/mempoolOverlay.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { Reasons } from '../../src/engine/runtime/reasons.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { DevnetClient } from '../../src/server/wiring/devnetClient.ts';
import { startOgmios } from '../chain/ogmios/ogmiosWorld.ts';
import { RULES } from '../chain/recogniseWorld.ts';
import { DEVNET_POLICY } from '../support/chainPolicies.ts';
import { startDevnet } from '../support/devnetNode.ts';
import { FoldWorld } from '../support/foldWorld.ts';
import { HandClock } from '../support/handClock.ts';
import { addressOf, keyNamed, payment } from '../support/ledgerWorld.ts';
import { temporaryDirectory } from '../support/server.ts';
import { until } from '../support/until.ts';

const ADA = 1_000_000n;
const SHOWN_MS = 1_000;

async function serverOf(t: TestContext) {
  const devnet = await startDevnet(t);
  const { ogmiosUrl, kupoUrl, devnetUrl } = devnet;
  const { node, writer, log } = await FoldWorld.open(t, join(temporaryDirectory(), 'data'));
  const ogmios = await startOgmios(t, ogmiosUrl);
  const view = new MempoolOverlay();
  const clock = new HandClock();
  const faults: unknown[] = [];
  const follower = new Follower(
    {
      ...{ source: ogmios, node, writer, log, rules: RULES, rng: seededRng(3), overlay: view },
      ...{ clock: systemClock, policy: DEVNET_POLICY, tip: () => ogmios.tip() },
    },
    {
      nodeBehind: () => {},
      chainFollowed: () => {},
      chainRolledBack: () => {},
      orderRefused: () => undefined,
      followerFailed: (error) => void faults.push(error),
    },
  );
  t.after(async () => {
    await follower.stop();
    assert.deepEqual(faults, []);
  });
  await follower.start();
  const tip = () => chainTip(node.fold.store);
  const lookup = new KupoLookup({
    url: kupoUrl,
    tip,
    overlay: view,
    clock: systemClock,
    observer: { kupoAsked: () => {}, kupoHealth: () => {} },
    limits: { deadlineMs: 60_000 },
  });
  const client = new DevnetClient({
    url: devnetUrl,
    node,
    tip: () => ogmios.tip(),
    async untilShown(txHash) {
      await ogmios.expect(txHash);
      await view.untilShown(txHash, clock, SHOWN_MS);
    },
    reasons: new Reasons(),
    clock,
  });
  const submitter = shownSubmitter(ogmios, view, lookup, clock);
  const height = () => tip()?.height ?? 0;
  return { devnet, follower, view, clock, lookup, client, submitter, height };
}

type Server = Awaited<ReturnType<typeof serverOf>>;

async function walletOf({ lookup }: Server, name: string): Promise<readonly Utxo[]> {
  return lookup.byPaymentKey(keyNamed(name).hash, 'newest');
}

test('blocks, forks and gifts are answered once they are shown', async (t) => {
  const server = await serverOf(t);
  const { client, view, height, devnet } = server;
  for (const heightAfter of [3, 6]) {
    assert.equal(await client.mine(3), heightAfter);
    assert.equal(height(), heightAfter);
  }
  assert.equal(await client.fork(2, 'none'), 4);
  assert.equal(height(), 4);
  const given = await client.faucet(addressOf('zoe'), 7n * ADA);
  assert.ok(!(given instanceof Failure) && given.outcome === 'accepted');
  assert.ok(view.mempool.has(given.txHash));
  const gifts = await walletOf(server, 'zoe');
  assert.deepEqual(
    gifts.map(({ ref, output }) => [ref.txHash, output.value.lovelace]),
    [[given.txHash, 7n * ADA]],
  );
  assert.equal(await client.mine(1), 5);
  assert.deepEqual(await walletOf(server, 'zoe'), gifts);
  assert.equal(height(), Number(devnet.node.chain.tip?.height));
});

test('an invalid request is refused, an unreachable devnet says when to retry', async (t) => {
  const { client, devnet } = await serverOf(t);
  for (const answer of [
    await client.mine(0),
    await client.fork(100_000, 'all'),
    await client.faucet('addr_of_nobody', ADA),
    await client.faucet(addressOf('zoe'), 20_000n * ADA),
  ]) {
    assert.ok(answer instanceof Failure);
    assert.equal(answer.cause, 'INVALID_PARAMS', answer.message);
  }
  await devnet.stop();
  for (const answer of [
    await client.mine(1),
    await client.fork(1, 'all'),
    await client.faucet(addressOf('zoe'), ADA),
  ]) {
    assert.ok(answer instanceof Failure);
    assert.deepEqual([answer.cause, answer.retryAfterSeconds], ['NOT_READY', 1]);
  }
});

test('what this server does not show in a second is answered all the same', async (t) => {
  const server = await serverOf(t);
  const { client, follower, submitter, clock, height, view } = server;
  const [source] = await walletOf(server, 'alice');
  assert.ok(source);
  await follower.stop();
  const limits: number[] = [];
  const after = clock.after.bind(clock);
  clock.after = (delayMs, run) => {
    limits.push(delayMs);
    return after(delayMs, run);
  };
  const { bytes, id } = payment(source, 'alice', 'bob', 10n * ADA);
  for (const [ask, expected] of [
    [() => submitter.submit(bytes), { outcome: 'accepted', txHash: id }],
    [() => client.mine(1), 1],
  ] as const) {
    let answer: unknown = null;
    limits.length = 0;
    const asked = ask().then((found) => {
      answer = found;
    });
    // Before that it waits for the devnet's answer, with another limit.
    const waits = () => limits.includes(SHOWN_MS) || answer !== null;
    await until('it waits to be shown', waits);
    await clock.advance(SHOWN_MS - 1);
    assert.equal(answer, null);
    await clock.advance(1);
    await asked;
    assert.deepEqual(answer, expected);
  }
  assert.deepEqual([height(), view.mempool.has(id)], [0, false]);
});

test('a transaction that was known before is answered the same, whatever spent it', async (t) => {
  const server = await serverOf(t);
  const { client, view, lookup, clock, devnet } = server;
  // Another node, which follows no chain and so knows no transaction.
  const ogmios = await startOgmios(t, devnet.ogmiosUrl);
  const afterwards = shownSubmitter(ogmios, view, lookup, clock);
  const [source] = await walletOf(server, 'alice');
  assert.ok(source);
  const spent = async (name: string, inputs: readonly Utxo[], ada: bigint) => {
    const [utxo] = inputs;
    assert.ok(utxo);
    const signed = payment(utxo, name, 'carol', ada * ADA);
    const accepted = { outcome: 'accepted', txHash: signed.id };
    assert.deepEqual(await server.submitter.submit(signed.bytes), accepted);
    assert.ok(view.mempool.has(signed.id));
    return signed;
  };
  const first = await spent('alice', [source], 10n);
  const accepted = { outcome: 'accepted', txHash: first.id };
  await client.mine(1);
  for (const name of ['alice', 'carol']) {
    const found = await walletOf(server, name);
    const made = found.filter(({ ref }) => ref.txHash === first.id);
    await spent(name, made, 5n);
  }
  assert.deepEqual(await afterwards.submit(first.bytes), accepted, 'spent by pending ones');
  await client.mine(1);
  assert.deepEqual(await afterwards.submit(first.bytes), accepted, 'spent in a block');
  const rival = payment(source, 'alice', 'bob', 11n * ADA);
  const refused = await afterwards.submit(rival.bytes);
  assert.ok(refused.outcome === 'refused' && refused.reason === 'INPUT_SPENT');
});
