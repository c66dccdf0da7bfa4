/** People and the crowd on a simulated devnet, through a whole node; the audit of its ledger. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import { coins } from '../../../src/cardano/codec/value.ts';
import { keyAddress } from '../../../src/cardano/validators/deploy.ts';
import { signedPayment } from '../../../src/devnet/payment.ts';
import { seededRng } from '../../../src/engine/runtime/rng.ts';
import { readTraderConfig } from '../../../src/traders/config.ts';
import { secretOf } from '../../support/ledgerWorld.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { SimDisk } from '../machine/simDisk.ts';
import { VirtualTime } from '../machine/virtualTime.ts';
import { SimNode } from '../node/simNode.ts';
import { LedgerAudit } from './ledgerAudit.ts';
import { lightGenesis, lightKeys } from './lightTraffic.ts';
import { SimDevnet } from './simDevnet.ts';
import { SimMarket, type TradeChoice } from './simMarket.ts';

const PACE_MS = 5_000;
const SEED = 3;

/** A market and one node, until `end`. */
async function marketOf(scope: TestContext) {
  const time = new VirtualTime();
  const directory = mkdtempSync(join(tmpdir(), 'upcurve-sim-'));
  const disk = new SimDisk(time);
  const restore = [time.install(seededRng(SEED)), disk.install()];
  const market = new SimMarket({ time, seed: SEED, paceMs: PACE_MS });
  market.devnet.start();
  const node = new SimNode({
    ...{ time, disk, name: 'a', directory: join(directory, 'a'), seed: SEED, env: market.env },
    chain: market.devnet,
    devnet: { traders: readTraderConfig(), pace: 0, seed: SEED },
  });
  const end = () => {
    node.kill();
    market.close();
    for (const take of restore.splice(0).toReversed()) take();
    rmSync(directory, { recursive: true, force: true });
  };
  scope.after(end);
  await time.settle(node.start(), 60_000);
  return { time, market, node, end };
}

test('people launch, buy, sell, cancel and lock through a node', async (t) => {
  const { time, market, node } = await marketOf(t);
  const trade = async (kind: TradeChoice['kind'], trader: number) => {
    const outcome = market.trade({ kind, trader, token: 0, amount: 30 }, node);
    const found = await time.settle(outcome, 60_000);
    await time.run(time.nowMs + 4 * PACE_MS);
    return found;
  };
  assert.equal(await trade('buy', 0), 'refused', 'there is no token yet');
  assert.equal(await trade('launch', 0), 'accepted');
  assert.equal(market.tokens.length, 1);
  for (const kind of ['buy', 'sell', 'cancel', 'lock'] as const) {
    assert.equal(await trade(kind, 1), 'accepted', kind);
  }
  market.fork(6);
  await time.run(time.nowMs + 10 * PACE_MS);
  assert.deepEqual(market.audit(), []);
  node.kill();
  assert.equal(await trade('buy', 1), 'unanswered');
});

test('the same seed makes the same chain of the crowd', async (t) => {
  const tips: (string | undefined)[] = [];
  for (let run = 0; run < 2; run += 1) {
    const { time, market, node, end } = await marketOf(t);
    const acted = new Set<string>();
    market.onReport = (report) => {
      assert.notEqual(report.kind, 'fault', JSON.stringify(report));
      if (report.kind === 'acted') acted.add(report.action);
    };
    market.startCrowd(1, [node]);
    await time.run(time.nowMs + 60_000);
    market.fork(4);
    await time.run(time.nowMs + 40_000);
    for (const action of ['launch', 'buy', 'sell']) assert.ok(acted.has(action), action);
    assert.deepEqual(market.audit(), []);
    tips.push(market.devnet.tip?.id);
    end();
  }
  assert.ok(tips[0] !== undefined);
  assert.equal(tips[0], tips[1]);
});

test('the audit names what was accepted and is lost, and nothing that was displaced', async (t) => {
  const time = new VirtualTime();
  t.after(time.install(seededRng(SEED)));
  const directory = temporaryDirectory();
  const genesis = lightGenesis(SEED);
  const faucetSecret = secretOf('faucet');
  const devnet = new SimDevnet({ time, directory, genesis, faucetSecret, paceMs: PACE_MS });
  devnet.start();
  t.after(() => devnet.stop());
  const audit = new LedgerAudit(() => devnet.core);
  const [key] = lightKeys(SEED);
  const { core } = devnet;
  assert.ok(key !== undefined && core !== null);
  const [source] = core.ledger.chain.ofCredential(key.hash);
  assert.ok(source !== undefined);
  const pay = (feeLovelace: bigint) => {
    const { lovelace } = source.output.value;
    const outputs = [{ address: keyAddress(key.hash), value: coins(lovelace - feeLovelace) }];
    return decodeTransaction(
      signedPayment({ inputs: [source.ref], outputs, feeLovelace }, [key]).bytes,
    );
  };
  const [first, second] = [pay(200_000n), pay(300_000n)];
  audit.accepted(first);
  assert.equal(audit.check().length, 1, 'it could still be, and is nowhere');
  devnet.run((node) => node.submit(Buffer.from(first.bytes).toString('hex')));
  await time.run(time.nowMs + 2 * PACE_MS);
  audit.accepted(second);
  assert.deepEqual(audit.check(), [], 'one is in a block, the other impossible');
});
