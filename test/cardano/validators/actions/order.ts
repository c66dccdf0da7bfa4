/**
 * The order validator: it allows fills at the worst price, refunds and cancels, and refuses the
 * rest.
 */
import { type Data, scriptFromNative } from '@lucid-evolution/lucid';
import { attack, legal } from '../cases.ts';
import type { Plan } from '../judge.ts';
import { launched, NEVER_AGAIN, REFUND_AFTER_MS, redeemers } from '../layouts.ts';
import {
  balanced,
  curveVenue,
  type OrderCase,
  type PoolChange,
  placedOrder,
  trade,
} from '../trades.ts';
import {
  ADA,
  ALICE,
  BOB,
  EXECUTOR,
  type Key,
  ORDER_FEE,
  REFUND_FEE,
  SIGNERS,
  SLOT_MS,
  swapped,
  type World,
} from '../world.ts';

/** Whatever spends an output pays for the script in it. */
const SCRIPT = scriptFromNative({ type: 'sig', keyHash: EXECUTOR.pkh });
const BUY: OrderCase = { side: 'buy', amount: 5n * ADA };
const SELL: OrderCase = { side: 'sell', amount: 1_000_000n };
/** Amounts that these orders get. */
const TOKENS = curveVenue().fill('buy', BUY.amount);
const LOVELACE_OUT = curveVenue().fill('sell', SELL.amount);

/** One order filled by its pool, which lies behind it: the order speaks first. */
const fill = (world: World, one: OrderCase, change: PoolChange = {}): Plan =>
  trade(world, launched(world), curveVenue(), [one], { isLast: true, ...change });

const priced = (one: OrderCase, got: bigint): OrderCase => ({ ...one, worst: [got, one.amount] });

/** An order of Alice, spent without a fill. */
function spend(world: World, one: OrderCase, redeemer: Data, change: Partial<Spending> = {}): Plan {
  const { signer = EXECUTOR, fromMs, less = REFUND_FEE, lessTokens = 0n, moreTokens = 0n } = change;
  const ids = launched(world);
  const { input, output } = placedOrder(world, ids, one, '10', 0n);
  const { lovelace = 0n, [ids.token]: tokens = 0n } = input.utxo.assets;
  const back = { lovelace: lovelace - less };
  const tokens1 = tokens - lessTokens + moreTokens;
  const assets = tokens1 === 0n ? back : { ...back, [ids.token]: tokens1 };
  const paid = { input: { ...input, redeemer }, output: { ...output, assets } };
  return { ...balanced([paid], signer), ...(fromMs === undefined ? {} : { fromMs }) };
}

interface Spending {
  readonly signer: Key;
  readonly fromMs: number;
  /** Lovelace that do not come back. */
  readonly less: bigint;
  readonly lessTokens: bigint;
  readonly moreTokens: bigint;
}

const refund = (world: World, one: OrderCase, change: Partial<Spending> = {}): Plan =>
  spend(world, one, redeemers.refund(0), { fromMs: REFUND_AFTER_MS, ...change });
const cancel = (world: World, change: Partial<Spending> & { to?: string } = {}): Plan =>
  spend(world, { ...BUY, ...change }, redeemers.cancel, { signer: ALICE, less: 0n, ...change });

legal('order: a buy exactly at its worst price', (world) => fill(world, priced(BUY, TOKENS)));
legal('order: a sell exactly at its worst price', (world) =>
  fill(world, priced(SELL, LOVELACE_OUT)),
);
legal('order: a buy for an address without stake part', (world) =>
  fill(world, { ...BUY, redeemer: ALICE.enterprise }),
);
legal('order: a refund at its first slot, by anybody', (world) =>
  refund(world, SELL, { signer: BOB }),
);
legal('order: a refund of a buy', (world) => refund(world, BUY));
legal('order: a cancel by its owner', (world) => cancel(world));
legal('order: a cancel that pays where the owner likes', (world) =>
  cancel(world, { to: BOB.address, less: 5n * ADA }),
);

attack('order: cancel by the executor', 'owner signature missing', (world) =>
  cancel(world, { signer: EXECUTOR }),
);
attack('order: cancel by the signers', 'owner signature missing', (world) => {
  const plan = cancel(world, { signer: BOB });
  return { ...plan, signers: [...plan.signers, ...SIGNERS] };
});
attack('order: an unknown redeemer', 'no such redeemer', (world) =>
  fill(world, { ...BUY, action: NEVER_AGAIN }),
);
attack('order: a buy one token below its worst price', 'below worst price', (world) =>
  fill(world, priced(BUY, TOKENS + 1n)),
);
attack('order: a sell one lovelace below its worst price', 'below worst price', (world) =>
  fill(world, priced(SELL, LOVELACE_OUT + 1n)),
);
attack('order: a buy paid in another token', 'below worst price', (world) =>
  fill(world, { ...BUY, token: launched(world, 'bb').token }),
);
attack('order: a buy whose deposit is one lovelace short', 'deposit not returned', (world) =>
  fill(world, { ...BUY, moreLovelace: -1n }),
);
attack('order: a payment to another', 'wrong address', (world) =>
  fill(world, { ...BUY, to: BOB.address }),
);
attack('order: a payment without the stake part', 'wrong address', (world) =>
  fill(world, { ...BUY, to: ALICE.enterprise }),
);
attack('order: a payment with a foreign stake part', 'wrong address', (world) =>
  fill(world, { ...BUY, to: swapped(ALICE, BOB) }),
);
attack('order: a refund to a foreign stake part', 'wrong address', (world) =>
  refund(world, { ...SELL, to: swapped(ALICE, BOB) }),
);
attack('order: a refund one lovelace short', 'wrong refund', (world) =>
  refund(world, SELL, { less: REFUND_FEE + 1n }),
);
attack('order: a refund that keeps the whole fee', 'wrong refund', (world) =>
  refund(world, SELL, { less: ORDER_FEE }),
);
attack('order: a refund that keeps more than the fee of its order', 'wrong refund', (world) =>
  refund(world, { ...SELL, fee: REFUND_FEE - 1n }),
);
attack('order: a refund one token short', 'wrong refund', (world) =>
  refund(world, SELL, { lessTokens: 1n }),
);
attack('order: a refund with a token that the order did not have', 'wrong refund', (world) =>
  refund(world, BUY, { moreTokens: 1n }),
);
attack('order: a refund with a script on it', 'reference script on the refund', (world) =>
  refund(world, { ...SELL, scriptRef: SCRIPT }),
);
attack('order: a payment with a script on it', 'reference script on the payment', (world) =>
  fill(world, { ...BUY, scriptRef: SCRIPT }),
);
attack('order: a refund one slot early', 'too early', (world) =>
  refund(world, SELL, { fromMs: REFUND_AFTER_MS - SLOT_MS }),
);
attack('order: a refund without a lower bound', null, (world) => {
  const { fromMs: _, ...unbounded } = refund(world, SELL);
  return unbounded;
});
attack('order: a negative index', null, (world) =>
  fill(world, { ...BUY, action: redeemers.execute(-1, 1) }),
);
attack('order: the index of another input', 'not my index', (world) =>
  fill(world, { ...BUY, action: redeemers.execute(1, 1) }),
);
attack('order: an index beyond the inputs', null, (world) =>
  fill(world, { ...BUY, action: redeemers.execute(7, 1) }),
);

attack('order: 1 token for 30 ADA, without the pool', "not the order's market", (world) => {
  const ids = launched(world);
  const order = placedOrder(world, ids, { ...BUY, amount: 30n * ADA }, '10', 1n);
  const redeemer = redeemers.execute(0, 1);
  return balanced([{ ...order, input: { ...order.input, redeemer } }], EXECUTOR);
});
attack('order: an input that is no pool as its market', "not the order's market", (world) =>
  fill(world, { ...BUY, action: redeemers.execute(0, 2) }),
);
attack('order: the pool of another market', "not the order's market", (world) =>
  fill(world, { ...BUY, market: launched(world, 'bb').nft }),
);
attack('order: a negative index of the pool', null, (world) =>
  fill(world, { ...BUY, action: redeemers.execute(0, -1) }),
);
legal('order: two equal orders, each with its own payment', (world) =>
  trade(world, launched(world), curveVenue(), [BUY, BUY]),
);
attack('order: one payment for two equal orders', 'not my index', (world) =>
  trade(world, launched(world), curveVenue(), [BUY, { ...BUY, action: redeemers.execute(0, 2) }], {
    isLast: true,
  }),
);
