/**
 * People trade on a real network: wallets from Kupo, transactions built here by the node's own
 * parameters, submitted through Ogmios, orders filled by this node's executor. The network is a
 * ledger that knows nothing of us.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { NetworkDeployment } from '../../src/cardano/deployment.ts';
import type { EmulatedChain } from '../../src/chain/emulated.ts';
import { NO_SECRETS, type RealSecrets } from '../../src/config/realSecrets.ts';
import { Secret } from '../../src/config/secrets.ts';
import { unpacked } from '../../src/ledger/messages.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { Failure } from '../../src/runtime/errors.ts';
import { type OrderRecord, readRecord } from '../../src/store/records.ts';
import { ApiClient } from '../../src/wallet/api.ts';
import { Desk } from '../../src/wallet/desk.ts';
import { ApiFailure } from '../../src/wallet/failure.ts';
import { Wallet } from '../../src/wallet/wallet.ts';
import { startTestApp } from '../support/app.ts';
import { FakeKupo } from '../support/kupo/fake.ts';
import { secretOf, startChain } from '../support/ledgerWorld.ts';
import { Bridge } from '../support/ogmios/bridge.ts';
import { type Environment, type Scope, temporaryDirectory } from '../support/server.ts';
import { untilAsked } from '../support/until.ts';
import { ADA, launchOf, ok } from './devnet/world.ts';
import { Real } from './realChainWorld.ts';

const KEYS: RealSecrets = {
  executor: new Secret(secretOf('executor')),
  fee: new Secret(secretOf('fee')),
  collateral: new Secret(secretOf('collateral')),
};

interface Options {
  readonly secrets?: RealSecrets;
  readonly some?: Partial<NetworkDeployment>;
  readonly withKupo?: boolean;
}

/** Slots of a second from now on, blocks when the test wants them. */
async function open(
  test: TestContext,
  { secrets = KEYS, some = {}, withKupo = true }: Options = {},
) {
  // What stands on the ledger ends before it.
  const ends: (() => void | Promise<void>)[] = [];
  const t: Scope = { after: (end) => void ends.unshift(end) };
  test.after(async () => {
    for (const end of ends) await end();
  });
  const ledger = await startChain(t, { genesisTimeMs: Date.now() });
  await ledger.mine(1);
  const genesis = await ledger.genesis();
  assert(!(genesis instanceof Failure));
  const outputs = genesis.outputs.map(unpacked);
  const kupo = await FakeKupo.begin(t, { source: ledger, genesis: outputs });
  const bridge = new Bridge(ledger);
  await bridge.start();
  t.after(() => bridge.stop());
  const complete = { ...ledger.deployment, network: 'preprod' } as const;
  const known = { network: 'preprod', start: null, missing: [], mismatch: null } as const;
  const directory = temporaryDirectory();
  const env: Environment = {
    NETWORK: 'preprod',
    OGMIOS_URL: bridge.url,
    FINAL_GRACE_MS: '3600000',
    ...(withKupo ? { KUPO_URL: kupo.url } : {}),
  };
  const deployment = { ...known, landmarks: complete, complete, ...some };
  const app = await startTestApp(t, { directory, env, deployment, secrets });
  const real = new Real(app, directory);
  const mine = async () => {
    await ledger.mine(1);
    await bridge.settled();
    await real.shows((await ledger.tip()).tip?.hash ?? null);
  };
  const options = { baseUrl: app.url, fetch, clock: systemClock, timeoutMs: 30_000 };
  const wallet = new Wallet({ payment: secretOf('alice'), stake: null }, 'testnet');
  const desk = new Desk(new ApiClient(options), wallet);
  await mine();
  return { ledger, kupo, bridge, real, mine, desk };
}

/** The first blocks may find the builder without parameters. */
async function built<T>(what: string, ask: () => Promise<T | ApiFailure>): Promise<T> {
  const isReady = (found: T | ApiFailure) =>
    !(found instanceof ApiFailure && found.cause === 'NOT_READY');
  return ok(await untilAsked(what, ask, isReady, 30_000));
}

async function waits(ledger: EmulatedChain, ref: string): Promise<void> {
  const [txHash = '', index] = ref.split(':');
  await untilAsked(
    `${ref} is spent`,
    async () => (await ledger.byRefs([{ txHash, index: Number(index) }]))[0]?.state,
    (state) => state === 'spent',
    30_000,
  );
}

test('a launch, an order and its fill, from here to the network and back', async (t) => {
  const { ledger, real, mine, desk } = await open(t);
  const wish = launchOf({ initialLovelace: 30n * ADA });
  const { asset: token } = await built('the launch is built', () => desk.launch(wish));
  await mine();
  const feed = await real.get(`/v1/pools-feed/initial/state?asset=${token}`);
  assert.equal(feed.status, 200);
  const order = { assetId: token, side: 'BUY', amount: 8n * ADA, slippage: '50' } as const;
  const placed = ok(await desk.order(order));
  // What waits is laid over the wallet: the next order does not spend the same.
  const second = ok(await desk.order({ ...order, amount: 5n * ADA }));
  await mine();
  for (const { id } of [placed, second]) {
    await waits(ledger, id);
    await mine();
  }
  const { store } = real.app.app.node.fold;
  for (const { id } of [placed, second]) {
    const record = readRecord<OrderRecord>(store.get('orders', id) ?? assert.fail());
    assert.equal(record.state, 'executed');
  }
  const sold = ok(await desk.order({ ...order, side: 'SELL', amount: 1_000_000n }));
  await mine();
  await waits(ledger, sold.id);
  await mine();
  const trades = await real.get(`/v1/trades?asset=${token}`);
  assert(Array.isArray(trades.body) && trades.body.length === 4);
});

test('without keys it follows and builds; who needs our collateral is told', async (t) => {
  const { real, mine, desk } = await open(t, { secrets: NO_SECRETS });
  const refused = await untilAsked(
    'the launch is refused',
    () => desk.launch(launchOf()),
    (found) => found instanceof ApiFailure && found.cause !== 'NOT_READY',
    30_000,
  );
  assert(refused instanceof ApiFailure);
  assert.equal(refused.cause, 'OPERATIONS_CONFIG');
  assert.match(refused.message, /collateral/);
  await mine();
  assert.equal((await real.get('/parameters')).status, 200);
});

test('without Kupo it follows; whatever needs a wallet says what is missing', async (t) => {
  const { real, desk } = await open(t, { withKupo: false });
  const { wallet } = desk;
  const found = await desk.client.utxos(wallet.keyHash);
  assert(found instanceof ApiFailure);
  assert.deepEqual([found.status, found.cause], [503, 'NOT_READY']);
  assert.match(found.message, /set KUPO_URL/);
  assert.equal((await real.get('/v1/pools-main-page/initial/state?filter=New')).status, 200);
});

test('where too little is known of a launchpad it is followed, and not built for', async (t) => {
  const missing = ['metadataAddress', 'scripts.ammPool.hash'];
  const { real, desk } = await open(t, { some: { complete: null, missing } });
  const found = await desk.order({
    assetId: `${'ab'.repeat(28)}.`,
    side: 'BUY',
    amount: 9n,
    slippage: '50',
  });
  assert(found instanceof ApiFailure);
  assert.equal(found.cause, 'PROTOCOL_CONFIG');
  assert.match(found.message, /followed and served only/);
  assert.match(found.message, /scripts\.ammPool\.hash/);
  const config = await real.get('/snekfun-front/protocol-config.json');
  assert.equal(config.status, 500);
});
