/** A server that builds something else than it was asked for: the wallet signs no part of it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { toHex } from '../../../src/cardano/codec/hex.ts';
import { parseRef } from '../../../src/cardano/codec/output.ts';
import { ApiError, Client } from '../../../src/client/index.ts';
import { leavingWallet } from '../../../src/client/trade/review.ts';
import type { OrderRequest, TradingClient } from '../../../src/client/trade/tradingClient.ts';
import { TradingClient as Trading } from '../../../src/client/trade/tradingClient.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { runWalletCommand } from '../../../src/server/cli/walletCommands.ts';
import { createWallet } from '../../../src/server/cli/walletFile.ts';
import { ADA, DevnetWorld, launchOf } from '../../e2e/devnet/world.ts';
import { parsed } from '../../server/cli/parsed.ts';
import { refusalOf } from '../../support/apiError.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { type Lie, type LyingProxy, lyingProxy } from './lyingProxy.ts';

interface Scene {
  readonly world: DevnetWorld;
  readonly proxy: LyingProxy;
  /** Through the proxy; `bob` is who would gain. */
  readonly alice: TradingClient;
  readonly bob: TradingClient;
  readonly token: string;
}

async function refused(scene: Scene, path: string, lie: Lie, act: () => Promise<unknown>) {
  const { proxy } = scene;
  proxy.lies = new Map([[path, lie]]);
  proxy.asked.length = 0;
  try {
    const error = await act().then(
      () => assert.fail(`${path}: a lie was signed`),
      (reason: unknown) => reason,
    );
    assert(error instanceof ApiError, String(error));
    assert(!proxy.asked.includes('/sign-and-submit'), 'nothing is signed');
    return error;
  } finally {
    proxy.lies = new Map();
  }
}

const json = (change: (body: Record<string, unknown>) => object) => (text: string) =>
  JSON.stringify(change(JSON.parse(text)));
const asks = (change: object): Lie => ({ ask: json((body) => ({ ...body, ...change })) });
/** In the bytes that the server built. */
const edits = (...pairs: readonly (readonly [string, string])[]): Lie => ({
  answer: json(({ cbor, ...rest }) => {
    let edited = String(cbor);
    for (const [from, to] of pairs) {
      assert(edited.includes(from), `${from} is in the transaction`);
      edited = edited.replaceAll(from, to);
    }
    return { ...rest, cbor: edited };
  }),
});
const word = (value: bigint) => `1a${value.toString(16).padStart(8, '0')}`;

function orderLies({ bob, world }: Scene): readonly (readonly [string, Lie, RegExp])[] {
  const { fees, scripts } = world.kit.txContext.deployment;
  const { executorFeeLovelace: fee, orderDepositLovelace: deposit } = fees;
  const held = 5n * ADA + fee + deposit;
  const dear = [word(fee), word(fee + ADA)] as const;
  const swapped: Lie = {
    ...asks({ slippage: 'infinity', minOutput: '1' }),
    answer: json((body) => ({ ...body, outputAmount: '1', minimumOutput: '1' })),
  };
  return [
    ['any price, and an answer that says so', swapped, /worse price/],
    ['a lower bound', asks({ minOutput: '2' }), /worse price/],
    ['a larger order', asks({ amount: String(6n * ADA) }), /worse price/],
    ['a smaller order', asks({ amount: String(4n * ADA), minOutput: '1' }), /worse price/],
    ['an order of somebody else', asks({ changeAddress: bob.wallet.address }), /pays others/],
    ['a long wait', asks({ waitFor: 2_592_000 }), /waits for longer/],
    ['a fee of the executor', edits(dear, [word(held), word(held + ADA)]), /on top/],
    ['a fee out of the deposit', edits(dear, [word(deposit), word(deposit - ADA)]), /executor/],
    ['another script', edits([scripts.order.hash, '78'.repeat(28)]), /unknown address/],
  ];
}

test('no order that a server falsifies is signed', async (t) => {
  const scene = await setScene(t);
  const { alice, token, bob, proxy } = scene;
  const buy = { assetId: token, side: 'BUY', amount: 5n * ADA, slippage: '15' } as const;
  for (const [what, lie, why] of orderLies(scene)) {
    const error = await refused(scene, '/order', lie, () => alice.order(buy));
    assert.match(`${error.cause} ${error.message}`, why, what);
    assert.equal(error.cause, 'NOT_WHAT_WAS_ASKED', what);
  }
  const tokens: OrderRequest = { ...buy, side: 'BUY_WITH_OUTPUT', amount: 1_000_000n };
  const fewer = asks({ amount: '600000', minOutput: '1' });
  assert.match((await refused(scene, '/order', fewer, () => alice.order(tokens))).message, /worse/);
  const dear = asks({ amount: '2000000' });
  const moved = await refused(scene, '/order', dear, () => alice.order(tokens));
  assert.equal(moved.cause, 'PRICE_MOVED');
  const any = { ...tokens, slippage: 'infinity' } as const;
  await assert.rejects(alice.order(any), { cause: 'INVALID_PARAMS' });
  // The datum's owner, who may cancel it, in the bytes; and a donation of the change.
  const owner = edits([`581c${alice.wallet.keyHash}`, `581c${bob.wallet.keyHash}`]);
  assert.match((await refused(scene, '/order', owner, () => alice.order(buy))).message, /not ours/);
  const donated: Lie = {
    answer: json(({ cbor, ...rest }) => {
      const text = String(cbor);
      assert(text.startsWith('84a4') && text.endsWith('a0f5f6'));
      return { ...rest, cbor: `84a5${text.slice(4, -6)}161a000f4240a0f5f6` };
    }),
  };
  const donation = await refused(scene, '/order', donated, () => alice.order(buy));
  assert.match(donation.message, /fields that it does not need: 22/);
  // Without a lie all goes through, and a retry sends the same request.
  const placed = await alice.order(buy);
  assert(parseRef(placed.id) !== null && proxy.asked.includes('/sign-and-submit'));
  assert(placed.minimumOutput > 1n);
});

test('the costs of an order are those of its bytes, not those of the quote', async (t) => {
  const { alice, token, proxy, world } = await setScene(t);
  const buy = { assetId: token, side: 'BUY', amount: 5n * ADA, slippage: '15' } as const;
  const { fees } = world.kit.txContext.deployment;
  const { executorFeeLovelace: fee, orderDepositLovelace: deposit } = fees;
  const costs = async () => {
    const { terms, review } = await alice.prepareOrder(buy);
    const { executorFee, deposit: lent } = terms.fees;
    const paid = leavingWallet(review);
    assert.equal(paid.lovelace, 5n * ADA + BigInt(executorFee) + BigInt(lent) + review.feeLovelace);
    assert.equal(paid.assets.size, 0);
    return [BigInt(executorFee), BigInt(lent)];
  };
  assert.deepEqual(await costs(), [fee, deposit]);
  const held = 5n * ADA + fee + deposit;
  const cheap = edits([word(fee), word(fee - 7n)], [word(held), word(held - 7n)]);
  proxy.lies = new Map([['/order', cheap]]);
  assert.deepEqual(await costs(), [fee - 7n, deposit]);
});

test('no other transaction that a server falsifies is signed', async (t) => {
  const scene = await setScene(t);
  const { alice, bob, token, world } = scene;
  await world.filled(alice, { assetId: token, side: 'BUY', amount: 50n * ADA, slippage: '15' });
  const rest = { assetId: token, side: 'BUY', amount: 5n * ADA, slippage: '15' } as const;
  const waits = { ...rest, minOutput: 900_000_000n, waitFor: 86_400 };
  const [one, other] = [await world.place(alice, waits), await world.place(alice, waits)];
  const to = bob.wallet.address;
  const transfer = { to, lovelace: 3n * ADA, assets: new Map([[token, 7n]]) };
  const assets = [{ unit: token, amount: '9' }];
  const lock = { assetId: token, amount: 11n, stages: 2, lockEndMs: world.nowMs + 7_200_000 };
  const rows: readonly [string, Lie, () => Promise<unknown>][] = [
    ['/cancel', asks({ txHash: other.txHash }), () => alice.cancel(one.id)],
    ['/cancel', asks({ ttl: 0 }), () => alice.cancel(one.id)],
    ['/transfer', asks({ distAddress: alice.wallet.address }), () => alice.transfer(transfer)],
    ['/transfer', asks({ ttl: 0 }), () => alice.transfer(transfer)],
    [
      '/transfer',
      asks({ transferAssets: { lovelace: String(3n * ADA), assets } }),
      () => alice.transfer(transfer),
    ],
    [
      '/transfer',
      asks({ transferAssets: { lovelace: 'max', assets } }),
      () => alice.transfer({ ...transfer, lovelace: 'max' }),
    ],
    ['/create-lock', asks({ amount: '12' }), () => alice.lock(lock)],
    ['/create-lock', asks({ stagesCount: 1 }), () => alice.lock(lock)],
    ['/create-lock', asks({ lockEnd: lock.lockEndMs - 1 }), () => alice.lock(lock)],
    ['/create-lock', asks({ lockEnd: lock.lockEndMs + 1 }), () => alice.lock(lock)],
    ['/create-lock', asks({ address: to }), () => alice.lock(lock)],
    [
      '/create-lock',
      edits([world.kit.txContext.deployment.scripts.vesting.hash, '78'.repeat(28)]),
      () => alice.lock(lock),
    ],
  ];
  for (const [path, lie, act] of rows) {
    const error = await refused(scene, path, lie, act);
    assert.equal(error.cause, 'NOT_WHAT_WAS_ASKED', `${path} ${error.message}`);
  }
  const late = await refusedLate(scene, () => alice.lock(lock), lock.lockEndMs);
  assert.match(late.message, /stage 1 opens at another time/);
  for (const act of [
    () => alice.cancel(one.id),
    () => alice.transfer(transfer),
    () => alice.lock(lock),
  ]) {
    await act();
    await world.mine();
  }
});

/** A server whose clock and blocks lie in an hour, and whose first stage opens accordingly. */
async function refusedLate(scene: Scene, act: () => Promise<unknown>, endMs: number) {
  const { proxy } = scene;
  const laterMs = Date.now() + 3_600_000;
  const time = json((body) => ({ ...body, timestamp: laterMs }));
  const ready = json((body) => ({
    ...body,
    tip: { ...Object(body.tip), time: Math.floor(laterMs / 1000) },
  }));
  const hex = (ms: number) => `1b${ms.toString(16).padStart(16, '0')}`;
  const create = json(({ cbor, ...rest }) => {
    const times = String(cbor).match(/1b000001[0-9a-f]{10}/g) ?? [];
    const half = times.find((text) => text !== hex(endMs)) ?? assert.fail('two stages');
    const moved = Math.floor((laterMs + endMs) / 2);
    return { ...rest, cbor: String(cbor).replace(half, hex(moved)) };
  });
  proxy.lies = new Map([
    ['/v1/utility/server/time', { answer: time }],
    ['/health/ready', { answer: ready }],
    ['/create-lock', { answer: create }],
  ]);
  const error = await refusalOf(act());
  proxy.lies = new Map();
  return error;
}

test('a withdrawal that a server falsifies is not signed', async (t) => {
  const scene = await setScene(t);
  const { alice, bob, token, world } = scene;
  await world.filled(alice, { assetId: token, side: 'BUY', amount: 50n * ADA, slippage: '15' });
  const lockEndMs = world.nowMs + 10_000;
  await alice.lock({ assetId: token, amount: 10n, stages: 2, lockEndMs });
  await world.mine();
  while (world.nowMs < lockEndMs) await world.mine(10);
  const [one, other] = (await alice.locks()).map(({ id }) => id);
  assert(one !== undefined && other !== undefined);
  for (const lie of [
    asks({ id: other }),
    asks({ ttl: 0 }),
    edits([alice.wallet.keyHash, bob.wallet.keyHash]),
  ]) {
    const error = await refused(scene, '/withdraw', lie, () => alice.withdraw(one));
    assert.equal(error.cause, 'NOT_WHAT_WAS_ASKED', error.message);
  }
  await alice.withdraw(one);
});

test('no launch that a server falsifies is signed', async (t) => {
  const scene = await setScene(t);
  const { alice, bob, world } = scene;
  const { scripts, launchPolicyId, metadataAddress } = world.kit.txContext.deployment;
  const image = new Blob([new Uint8Array(await launchOf().image.arrayBuffer())], {
    type: 'image/png',
  });
  const request = launchOf({
    ...{ name: 'Rocket', description: 'Up, up and away', image, initialLovelace: 100n * ADA },
    website: 'https://Example.com',
  });
  const form = (from: string, to: string): Lie => ({
    ask: (body) => {
      assert(body.includes(from), `${from} is in the form`);
      return body.replace(from, to);
    },
  });
  const text = (value: string) => toHex(Buffer.from(value));
  const rows: readonly (readonly [string, Lie, RegExp])[] = [
    ['name', form('"Rocket"', '"Socket"'), /another name/],
    ['ticker', form('"COIN"', '"FAKE"'), /wallets would show/],
    ['description', form('Up, up', 'No, no'), /wallets would show/],
    ['kind', form('"DEFAULT"', '"HYPED"'), /describes the token otherwise/],
    ['link', form('Example.com', 'Example.org'), /describes the token otherwise/],
    ['first buy', form('100000000', '050000000'), /keeps \d+ tokens/],
    ['no first buy', form('100000000', '0'), /keeps 0 tokens/],
    ['owner', form(alice.wallet.address, bob.wallet.address), /signature of/],
    ['logo', edits([text('bafkrei'), text('bafkref')]), /wallets would show/],
    ['link in the datum', edits([text('example.com'), text('example.net')]), /otherwise/],
    ['policy', edits([launchPolicyId, '79'.repeat(28)]), /another launchpad/],
  ];
  assert(scripts.curvePool.hash !== launchPolicyId && metadataAddress !== '');
  for (const [what, lie, why] of rows) {
    const error = await refused(scene, '/launch', lie, () => alice.launch(request));
    assert.equal(error.cause, 'NOT_WHAT_WAS_ASKED', `${what}: ${error.message}`);
    assert.match(error.message, why, what);
  }
  const { userTokens, asset } = await alice.launch(request);
  await world.mine();
  const held = (await alice.utxos()).reduce(
    (sum, { value }) => sum + (value.assets.get(asset) ?? 0n),
    0n,
  );
  assert(userTokens > 0n && held === userTokens);
});

test('the command line signs the bound that it printed, asks where the price moved', async (t) => {
  const { world, proxy, bob, token } = await setScene(t);
  const file = join(temporaryDirectory(), 'wallet.json');
  const made = createWallet(file);
  assert(typeof made !== 'string');
  const paid = await world.kit.devnet?.faucet(made.address, 9_000n * ADA);
  assert(paid !== undefined);
  await world.mine();
  const run = async (confirm: (() => Promise<boolean>) | null, ...args: readonly string[]) => {
    const all = ['buy', token, ...args, '--url', proxy.url, '--wallet', file, '--no-wait'];
    const command = parsed(all);
    assert(typeof command !== 'string' && command.name === 'wallet command');
    const [lines, complaints]: [string[], string[]] = [[], []];
    const deps = { clock: systemClock, fetch, confirm };
    const code = await runWalletCommand(command, {
      ...deps,
      say: (line) => lines.push(line),
      complain: (line) => complaints.push(line),
    });
    return { code, said: lines.join('\n'), complaints: complaints.join('\n') };
  };
  proxy.lies = new Map([['/order', { ...asks({ slippage: 'infinity', minOutput: '1' }) }]]);
  const lied = await run(null, '100');
  assert.equal(lied.code, 1);
  assert.match(lied.complaints, /NOT_WHAT_WAS_ASKED.*worse price/);
  // The pool moves between the quote that is printed and the order.
  const dear: Lie = asks({ minOutput: '900000000' });
  proxy.lies = new Map([['/order', dear]]);
  const moved = await run(null, '100');
  assert.match(moved.complaints, /PRICE_MOVED/);
  const asJson = await run(async () => assert.fail('no person is asked'), '100', '--json');
  assert.match(asJson.said, /PRICE_MOVED/);
  const declined = await run(async () => false, '100');
  assert.equal(declined.code, 1);
  assert.equal(declined.said.match(/^Quote: /gm)?.length, 2, 'it quotes again');
  const agreed = await run(async () => {
    proxy.lies = new Map();
    return true;
  }, '100');
  assert.equal(agreed.code, 0, agreed.complaints);
  const [, least = ''] = /at least (\d+) Coin/.exec(agreed.said) ?? [];
  assert.match(agreed.said, new RegExp(`Signed: an order of 100 ADA for at least ${least} `));
  await world.mine();
  const any = ['--tokens', '1000000', '--slippage', 'infinity'];
  assert.match((await run(null, ...any)).complaints, /a person confirms/);
  assert.equal((await run(async () => true, ...any)).code, 0);
  assert.notEqual(bob.wallet.address, made.address);
});

async function setScene(t: { after(run: () => Promise<void> | void): void }): Promise<Scene> {
  const world = await DevnetWorld.start(t);
  const proxy = await lyingProxy(t, world.url);
  const [direct, bob] = [await world.funded('alice', 3_000, 5), await world.funded('bob', 3_000)];
  const { asset: token } = await world.launch(bob, { name: 'Coin', initialLovelace: 20n * ADA });
  const client = new Client({ url: proxy.url, clock: systemClock, fetch });
  t.after(() => client.close());
  return { world, proxy, alice: new Trading(client, direct.wallet), bob, token };
}
