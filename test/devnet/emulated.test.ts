/** The embedded ledger as a service: its thread, its pace, its faucet, its end. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { formatAddress } from '../../src/cardano/codec/address.ts';
import { slotAt } from '../../src/cardano/codec/slots.ts';
import { EmulatedChain, LedgerStopped } from '../../src/devnet/emulated.ts';
import {
  addressOf,
  genesisPlan,
  keyNamed,
  ledgerOptions,
  payment,
  startChain,
} from '../support/ledgerWorld.ts';
import { untilAsked } from '../support/until.ts';

const ADA = 1_000_000n;

let begun: Promise<EmulatedChain> | null = null;

/** One for all who do not mind what others did to it. */
function someChain(): Promise<EmulatedChain> {
  begun ??= startChain({ after: () => {} });
  return begun;
}

after(async () => (await begun)?.stop());

test('begins with 1,000 outputs of traders', async (scope) => {
  const wallets = Array.from({ length: 200 }, (_, at) => ({
    keyHash: keyNamed(`trader ${at}`).hash,
    lovelace: 100n * ADA,
    outputs: 5,
  }));
  const options = { ...ledgerOptions(), genesis: { ...genesisPlan(), wallets } };
  const chain = await startChain(scope, options);
  for (const at of [0, 99, 199]) {
    const { hash } = keyNamed(`trader ${at}`);
    assert.equal((await chain.byPaymentKey(hash, 'spendable')).length, 5);
  }
});

test('gives from the faucet, again and again within one block', async () => {
  const chain = await someChain();
  const { hash } = keyNamed('zoe');
  for (let round = 0; round < 30; round += 1) {
    const outcome = await chain.faucet(addressOf('zoe'), 10n * ADA);
    assert.equal(outcome.outcome, 'accepted');
  }
  await chain.mine(1);
  const found = await chain.byPaymentKey(hash, 'spendable');
  assert.deepEqual(new Set(found.map(({ output }) => output.value.lovelace)), new Set([10n * ADA]));
  assert.equal(found.length, 30);
});

test('the faucet pays to base addresses, too', async () => {
  const chain = await someChain();
  const { hash } = keyNamed('yves');
  const [payment, stake] = [keyNamed('yves'), keyNamed('stake')].map(({ hash: each }) => {
    return { kind: 'key', hash: each } as const;
  });
  assert.ok(payment && stake);
  const address = formatAddress({ network: 'testnet', payment, stake, pointer: false });
  assert.equal((await chain.faucet(address, 10n * ADA)).outcome, 'accepted');
  const [found] = await chain.byPaymentKey(hash, 'newest');
  assert.equal(found?.output.address, address);
});

test('the faucet refuses other networks and unreasonable amounts', async () => {
  const chain = await someChain();
  const mainnet = 'addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8';
  for (const [address, lovelace] of [
    [mainnet, 10n * ADA],
    ['nonsense', 10n * ADA],
    [addressOf('zoe'), 1n],
    [addressOf('zoe'), -5n * ADA],
    [addressOf('zoe'), 1n << 80n],
  ] as const) {
    const outcome = await chain.faucet(address, lovelace);
    assert.ok(outcome.outcome === 'refused' && outcome.reason === 'REFUSED', `${lovelace}`);
  }
});

test('makes a block in every slot; the clock catches up with those asked for', async (scope) => {
  const options = { blockPaceMs: 50, genesisTimeMs: Date.now() };
  const chain = await startChain(scope, options);
  const { slotConfig } = chain;
  assert.equal(slotConfig.slotLengthMs, 50);
  const height = async () => (await chain.tip()).tip?.height ?? 0;
  await untilAsked('ten blocks', height, (found) => found >= 10);
  const { tip } = await chain.tip();
  assert.ok(tip && tip.slot <= slotAt(slotConfig, Date.now()), 'no block comes before its slot');
  const last = await chain.mine(20);
  assert.ok(last && 'slot' in last && last.height >= tip.height + 20);
  const later = async () => (await chain.tip()).tip;
  const next = await untilAsked('the next', later, (found) => (found?.height ?? 0) > last.height);
  assert.ok(next && next.slot > last.slot);
  assert.ok(next.slot <= slotAt(slotConfig, Date.now()), 'it waited for the clock');
});

test('keeps its chain, its slots and its deployment over a restart', async (scope) => {
  const options = ledgerOptions();
  const first = await startChain(scope, options);
  await first.faucet(addressOf('zoe'), 10n * ADA);
  await first.mine(3);
  const [tip, { deployment, slotConfig }] = [await first.tip(), first];
  await first.stop();
  const second = await startChain(scope, { ...options, genesisTimeMs: 1 });
  assert.deepEqual(await second.tip(), tip);
  assert.deepEqual([second.deployment, second.slotConfig], [deployment, slotConfig]);
  assert.equal((await second.byPaymentKey(keyNamed('zoe').hash, 'spendable')).length, 1);
});

test('does not start on a file in use, of other keys or of another pace', async (scope) => {
  const options = ledgerOptions();
  const chain = await startChain(scope, options);
  await assert.rejects(startChain(scope, options), /in use by another/);
  await chain.stop();
  const genesis = { ...options.genesis, executorKeyHash: keyNamed('other').hash };
  await assert.rejects(startChain(scope, { ...options, genesis }), /other keys/);
  await assert.rejects(startChain(scope, { ...options, blockPaceMs: 200 }), /pace/);
});

test('after the stop nobody waits: questions and streams fail', async () => {
  const chain = new EmulatedChain({
    ...ledgerOptions(),
    died: () => assert.fail('it was stopped'),
  });
  await chain.start();
  const stream = await chain.open([]);
  assert.equal((await stream?.next())?.kind, 'mempool');
  const waiting = stream?.next();
  assert.ok(waiting);
  const failed = assert.rejects(waiting, LedgerStopped);
  await chain.stop();
  await failed;
  await assert.rejects(chain.tip(), LedgerStopped);
  await chain.stop();
});

test('its death is reported, and fails who waits', async (scope) => {
  let report = (_error: Error) => {};
  const died = new Promise<Error>((resolve) => {
    report = resolve;
  });
  const chain = await startChain(scope, { died: (error) => report(error) });
  const [source] = await chain.byPaymentKey(keyNamed('alice').hash, 'spendable');
  assert.ok(source);
  await chain.submit(payment(source, 'alice', 'bob', 5n * ADA).bytes);
  await chain.mine(1);
  // A program's fault inside the thread: no list of ids.
  const fork: Promise<unknown> = Reflect.apply(chain.fork, chain, [1, { resubmit: 5 }]);
  await assert.rejects(Promise.all([fork, chain.tip()]), LedgerStopped);
  assert.match(String(await died), /includes/);
  await assert.rejects(chain.submit(new Uint8Array(1)), LedgerStopped);
});

test('a lookup that makes no sense fails alone', async () => {
  const chain = await someChain();
  const before = await chain.tip();
  await assert.rejects(chain.byRefs([{ txHash: 'not hex', index: 0 }]), /not hex/);
  assert.deepEqual(await chain.tip(), before);
});

test('refuses to go back further than its blocks', async (scope) => {
  const chain = await startChain(scope);
  await chain.mine(3);
  for (const depth of [0, -1, 4, 2161]) {
    assert.ok('cause' in (await chain.fork(depth)), `depth ${depth}`);
  }
  await chain.mine(2200);
  assert.ok('cause' in (await chain.fork(2161)));
  assert.ok('takenBack' in (await chain.fork(2160)));
  assert.ok('cause' in (await chain.fork(1)), 'what was settled stays');
  assert.equal((await chain.tip()).tip?.height, 43);
});

test('answers lookups while many transactions are judged', async () => {
  const chain = await someChain();
  const utxos = await chain.byPaymentKey(keyNamed('alice').hash, 'spendable');
  const [source] = utxos;
  assert.ok(source);
  let judged = 0;
  const rivals = Array.from({ length: 300 }, async (_, at) => {
    await chain.submit(payment(source, 'alice', 'bob', 2n * ADA + BigInt(at)).bytes);
    judged += 1;
  });
  await chain.tip();
  assert.ok(judged < 300, 'the question is not behind all of them');
  await Promise.all(rivals);
});
