/** Trades that either pool allows and refuses, with the executor's real key. */
import assert from 'node:assert/strict';
import { Constr, type Data, scriptFromNative } from '@lucid-evolution/lucid';
import { attack, legal } from '../cases.ts';
import type { Plan } from '../judge.ts';
import { changed, launched, longer, NEVER_AGAIN, REFUND_AFTER_MS, redeemers } from '../layouts.ts';
import { type OrderCase, type PoolChange, placedOrder, trade, type Venue } from '../trades.ts';
import {
  ADA,
  ALICE,
  BOB,
  CREATOR,
  EXECUTOR,
  key,
  PLATFORM,
  REFUND_FEE,
  SIGNERS,
  settingsDatum,
  utxo,
  type World,
} from '../world.ts';
import { executing, withSettings } from './settings.ts';

/** Whatever spends an output pays for the script in it. */
const SCRIPT = scriptFromNative({ type: 'sig', keyHash: EXECUTOR.pkh });
const BUY: OrderCase = { side: 'buy', amount: 30n * ADA };
const SELL: OrderCase = { side: 'sell', amount: 1_000_000n, owner: BOB };
const MIXED = [BUY, SELL, { ...BUY, owner: CREATOR, amount: 5n * ADA }];
/** The executor's own. */
const SIBLING: OrderCase = { ...BUY, owner: EXECUTOR };

/** `wrongAmount`: the words of this pool's check of one order. */
export function trading(name: string, venue: () => Venue, wrongAmount: string): void {
  const deal = (world: World, orders: readonly OrderCase[], change: PoolChange = {}): Plan =>
    trade(world, launched(world), venue(), orders, change);
  const one = (world: World, change: PoolChange): Plan => deal(world, [BUY], change);
  const refused = (what: string, check: string | null, plan: (world: World) => Plan) =>
    attack(`${name}: ${what}`, check, plan);

  legal(`${name}: a buy, all its tokens`, (world) => deal(world, [BUY]));
  executing(name, (world) => deal(world, [BUY]));
  legal(`${name}: a sell, all its lovelace`, (world) => deal(world, [SELL]));
  legal(`${name}: orders one after the other`, (world) => deal(world, MIXED));
  legal(`${name}: orders behind which the pool lies`, (world) =>
    deal(world, MIXED, { isLast: true }),
  );
  legal(`${name}: lovelace beyond what an order gets`, (world) =>
    deal(world, [
      { ...BUY, moreLovelace: 1n },
      { ...SELL, moreLovelace: 1n },
    ]),
  );
  // The order of execution differs from the order of inputs.
  legal(`${name}: the third order first`, (world) => {
    const [first, second, third] = MIXED;
    if (!first || !second || !third) throw new Error('three orders');
    const inOrder = venue();
    const got = new Map([third, first, second].map((each) => [each, filled(inOrder, each)]));
    return executedAs(world, venue(), MIXED, [2, 0, 1], got);
  });

  refused('an order gets a token less', wrongAmount, (world) =>
    deal(world, [{ ...BUY, moreTokens: -1n }], { moreTokens: 1n }),
  );
  refused('an order gets a token more', wrongAmount, (world) =>
    deal(world, [{ ...BUY, moreTokens: 1n }], { moreTokens: -1n }),
  );
  refused('an order gets a lovelace less for its tokens', wrongAmount, (world) =>
    deal(world, [{ ...SELL, moreLovelace: -1n }], { moreLovelace: 1n }),
  );
  refused('a deposit one lovelace short', 'deposit not returned', (world) =>
    deal(world, [{ ...BUY, moreLovelace: -1n }]),
  );
  refused('a pool one lovelace short', 'wrong coin', (world) => one(world, { moreLovelace: -1n }));
  refused('a pool one lovelace richer', 'wrong coin', (world) => one(world, { moreLovelace: 1n }));
  refused('a token taken', 'wrong tokens', (world) => one(world, { moreTokens: -1n }));
  refused('a token given', 'wrong tokens', (world) => one(world, { moreTokens: 1n }));

  refused('1 token for 30 ADA, the pool left alone', 'a script is not listed once', (world) => {
    const still = unmoved(venue());
    return trade(world, launched(world), still, [BUY], { listed: [] });
  });
  refused('1 token for 30 ADA, listed', wrongAmount, (world) =>
    trade(world, launched(world), unmoved(venue()), [BUY]),
  );
  refused("the executor's own order in a victim's stead", 'a script is not listed once', (world) =>
    stead(world, venue(), [1]),
  );
  refused("the executor's own order, listed twice", 'a script is not listed once', (world) =>
    stead(world, venue(), [1, 1], 100n),
  );
  refused("the executor's own order, beside it", wrongAmount, (world) =>
    stead(world, venue(), [1, 2]),
  );
  refused('a buy and a sell, crossed beside the pool', wrongAmount, (world) =>
    crossed(world, venue()),
  );
  refused('an order that is not listed', 'a script is not listed once', (world) =>
    deal(world, [BUY, SELL], { listed: [1] }),
  );
  refused('orders in another order than they were executed', wrongAmount, (world) =>
    deal(world, MIXED, { listed: [3, 2, 1] }),
  );
  refused('the pool listed as an order', 'Warning: invalid Order data', (world) =>
    deal(world, [BUY], { listed: [1, 0] }),
  );
  refused('a wallet listed as an order', 'not an inline datum', (world) =>
    deal(world, [BUY], { listed: [1, 2] }),
  );
  refused('an index beyond the inputs', null, (world) => deal(world, [BUY], { listed: [9] }));
  refused('an order of another market', 'order of another market', (world) =>
    deal(world, [{ ...BUY, market: launched(world, 'bb').nft }]),
  );
  refused('an order for another token', 'order of another token', (world) =>
    deal(world, [{ ...BUY, token: launched(world, 'bb').token }]),
  );
  refused('an order that offers another token', 'order of another token', (world) =>
    deal(world, [{ ...SELL, token: launched(world, 'bb').token }]),
  );
  refused('a refund beside it', 'a script is not listed once', (world) =>
    besideRefund(world, venue(), [1]),
  );
  refused('a refund, listed as an order', wrongAmount, (world) =>
    besideRefund(world, venue(), [1, REFUNDED]),
  );
  refused('a cancel beside it', 'a script is not listed once', (world) => {
    const ids = launched(world);
    const back = placedOrder(world, ids, { ...SELL, owner: ALICE }, '80', 0n);
    const redeemer = redeemers.cancel;
    const cancelled = { ...back, input: { ...back.input, redeemer } };
    const plan = deal(world, [BUY], { others: [cancelled] });
    return { ...plan, signers: [...plan.signers, ALICE] };
  });
  refused('two pools at once', 'a script is not listed once', (world) => twoPools(world, venue()));

  refused('a script on the pool', 'reference script on the pool', (world) =>
    one(world, { scriptRef: SCRIPT }),
  );
  refused('without the executor', 'executor signature missing', (world) =>
    one(world, { signer: key(9) }),
  );
  refused('the signers as executor take a token', 'wrong tokens', (world) => {
    const [signer] = SIGNERS;
    assert.ok(signer);
    const plan = one(world, { moreTokens: -1n, signer });
    return withSettings(world, plan, { datum: settingsDatum(signer) });
  });
  refused('an unknown redeemer', 'no such redeemer', (world) =>
    one(world, { redeemer: NEVER_AGAIN }),
  );
  refused('Never', 'no such redeemer', (world) =>
    one(world, { redeemer: new Constr<Data>(2, []) }),
  );
  refused('a negative index', null, (world) => one(world, { index: -1 }));
  refused('the index of another input', 'not my index', (world) => one(world, { index: 1 }));
  refused('the NFT stolen', 'wrong value', (world) =>
    one(world, { assets1: ({ [launched(world).nft]: _, ...rest }) => rest }),
  );
  refused('a foreign token put into the pool', 'wrong value', (world) =>
    one(world, { assets1: (assets) => ({ ...assets, [launched(world, 'bb').token]: 1n }) }),
  );
  refused('the stake part swapped', 'address changed', (world) =>
    one(world, { address1: ({ address }) => address(venue().script, ALICE) }),
  );
  const other = venue().script === 'curvePool' ? 'ammPool' : 'curvePool';
  refused('to the other validator', 'address changed', (world) =>
    one(world, { address1: ({ address }) => address(other, PLATFORM) }),
  );
  refused('a field added to the datum', 'datum changed', (world) => one(world, { datum1: longer }));
  refused('another constructor', 'datum changed', (world) =>
    one(world, { datum1: ({ fields }) => new Constr(1, fields) }),
  );
  const asset = new Constr<Data>(0, ['', '61']);
  const values = venue().script === 'curvePool' ? CURVE_FIELDS : AMM_FIELDS;
  for (const [field, to] of [asset, asset, asset, ...values].entries()) {
    refused(`field ${field} of the datum changed`, 'datum changed', (world) =>
      one(world, { datum1: (datum) => changed(datum, field, to) }),
    );
  }
}

const CURVE_FIELDS: readonly Data[] = [1n, 1n, ALICE.pkh, 1n, ALICE.pkh, ALICE.pkh];
const AMM_FIELDS: readonly Data[] = [0n, ALICE.pkh, ALICE.pkh, ALICE.skh, 1n];

const filled = (venue: Venue, { side, amount }: OrderCase) => venue.fill(side, amount);

/** The input of the refund: behind pool and order. */
const REFUNDED = 2;

/** A due order, given back as its own script allows, beside a trade that lists these inputs. */
function besideRefund(world: World, venue: Venue, listed: readonly number[]): Plan {
  const ids = launched(world);
  const { input, output } = placedOrder(world, ids, { ...SELL, owner: ALICE }, '80', 0n);
  const { lovelace = 0n, ...tokens } = input.utxo.assets;
  const back = {
    input: { ...input, redeemer: redeemers.refund(REFUNDED) },
    output: { ...output, assets: { lovelace: lovelace - REFUND_FEE, ...tokens } },
  };
  const plan = trade(world, ids, venue, [BUY], { others: [back], listed });
  return { ...plan, fromMs: REFUND_AFTER_MS };
}

/** Orders at indices 1, 2, … that are executed in another order. */
function executedAs(
  world: World,
  venue: Venue,
  orders: readonly OrderCase[],
  sequence: readonly number[],
  got: ReadonlyMap<OrderCase, bigint>,
): Plan {
  const executed = sequence.map((at) => orders[at]);
  let next = 0;
  const replay: Venue = {
    ...venue,
    fill(side, amount) {
      // The pool moves as the orders are executed; each order gets the amount of its execution.
      const moved = executed[next];
      next += 1;
      if (moved) venue.fill(moved.side, moved.amount);
      const order = orders.find((each) => each.side === side && each.amount === amount);
      return (order && got.get(order)) ?? 0n;
    },
  };
  return trade(world, launched(world), replay, orders, { listed: sequence.map((at) => at + 1) });
}

/** Gives 1 token and stays as it is. */
const unmoved = (venue: Venue): Venue => ({ ...venue, fill: () => 1n });

/**
 * A victim's order gets 1 token; the executor's own order gets the tokens that the victim's
 * lovelace buy.
 */
function stead(world: World, venue: Venue, listed: readonly number[], amount = BUY.amount): Plan {
  const ids = launched(world);
  let isSibling = true;
  const robbed: Venue = {
    ...venue,
    fill(side, amount) {
      const got = isSibling ? venue.fill(side, amount) : 1n;
      isSibling = false;
      return got;
    },
  };
  return trade(
    world,
    ids,
    robbed,
    [
      { ...SIBLING, amount },
      { ...BUY, amount },
    ],
    { listed },
  );
}

/**
 * Two orders trade with each other at a price that suits the executor, who keeps the difference.
 */
function crossed(world: World, venue: Venue): Plan {
  const still: Venue = { ...venue, fill: (side) => (side === 'buy' ? SELL.amount : 1n) };
  return trade(world, launched(world), still, [BUY, SELL]);
}

/** Each would be legal alone. */
function twoPools(world: World, venue: Venue): Plan {
  const other = launched(world, 'bb');
  const stake = venue.script === 'curvePool' ? PLATFORM : undefined;
  const address = world.address(venue.script, stake);
  const [assets, datum] = [venue.value(other), venue.datum(world, other)];
  const held = utxo('80', 0, address, assets, datum);
  const input = { utxo: held, redeemer: redeemers.trade(2, []) };
  return trade(world, launched(world), venue, [BUY], {
    others: [{ input, output: { address, assets, datum } }],
  });
}
