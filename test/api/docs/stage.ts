/** A small market that contains one example of everything that a sample request names. */
import assert from 'node:assert/strict';
import { parseRef, refText } from '../../../src/cardano/codec/output.ts';
import { ADA, type DevnetWorld } from '../../e2e/devnet/world.ts';

export interface Stage {
  readonly asset: string;
  readonly pkh: string;
  readonly address: string;
  /** Somebody else's. */
  readonly otherAddress: string;
  readonly logoCid: string;
  /** Around all trades, Unix seconds. */
  readonly from: number;
  readonly to: number;
  /** In the future, Unix milliseconds. */
  readonly lockEndMs: number;
  /** An order in the mempool, which its owner may cancel. */
  readonly placed: { readonly txHash: string; readonly index: number };
  /** Beacon of an order that was filled. */
  readonly beacon: string;
  /** Locks of `address`: one has ended, one has not. */
  readonly dueLock: string;
  readonly lock: string;
  /** Outputs that are no locks: the first is spent, the second is a plain output of the wallet. */
  readonly spent: string;
  readonly plain: string;
  /** Id of the webhook that was registered last. */
  readonly webhook: string;
  /** A transfer, as built and as signed. */
  readonly built: { readonly cbor: string; readonly witness: string };
  readonly signed: string;
}

export async function setStage(world: DevnetWorld): Promise<Stage> {
  const maker = await world.funded('maker', 1_000, 4);
  const alice = await world.funded('alice', 500, 8);
  const bob = await world.funded('bob', 500, 4);
  const from = Math.floor(world.nowMs / 1000) - 60;
  const launched = await world.launch(maker, {
    name: 'Example',
    ticker: 'EXMPL',
    description: 'The token of the examples.',
    initialLovelace: 50n * ADA,
  });
  const { asset } = launched;
  const buy = { assetId: asset, side: 'BUY', amount: 25n * ADA, slippage: '15' } as const;
  const [filled] = await world.filled(alice, buy);
  await world.filled(bob, { ...buy, amount: 40n * ADA });
  await world.filled(alice, { ...buy, side: 'SELL', amount: 1_000_000n });

  const lock = async (lockEndMs: number): Promise<string> => {
    const { txHash } = await alice.lock({ assetId: asset, amount: 1000n, lockEndMs, stages: 1 });
    await world.mine(3);
    const vestings = await alice.locks();
    const made = vestings.find(({ id }) => id.startsWith(txHash));
    assert(made !== undefined);
    return made.id;
  };
  const dueLock = await lock(world.nowMs + 2_000);
  const open = await lock(world.nowMs + 86_400_000);
  // The newest blocks have a trade: a fork of the chain then revises bars.
  await world.filled(bob, { ...buy, amount: 30n * ADA });

  const order = parseRef((await alice.order({ ...buy, amount: 10n * ADA })).id);
  assert(order !== null);
  const [own] = await alice.utxos();
  assert(own !== undefined);
  const to = { to: bob.wallet.address, lovelace: 5n * ADA, assets: new Map() };
  const { cbor } = (await alice.prepareTransfer(to)).built;
  const witness = await alice.wallet.sign(cbor);
  const { address, keyHash: pkh } = alice.wallet;
  const signed = await world.post('/sign', { cbor, witness, changeAddress: address });
  assert.equal(signed.status, 200, signed.message);
  return {
    asset,
    pkh,
    address,
    otherAddress: bob.wallet.address,
    logoCid: launched.logoCid,
    from,
    to: Math.floor(world.nowMs / 1000) + 60,
    lockEndMs: world.nowMs + 7 * 86_400_000,
    placed: order,
    beacon: filled.beacon,
    dueLock,
    lock: open,
    spent: filled.id,
    plain: refText(own.ref),
    webhook: `wh_${'a'.repeat(20)}`,
    built: { cbor, witness },
    signed: String(Reflect.get(Object(signed.body), 'cbor')),
  };
}
