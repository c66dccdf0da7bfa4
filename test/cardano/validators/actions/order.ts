/** The order validator: fills at the worst price, refunds, cancels, and what it refuses. */
import type { Assets, Data } from '@lucid-evolution/lucid';
import { attack, legal } from '../cases.ts';
import type { Plan } from '../judge.ts';
import {
  LOVELACE,
  NEVER_AGAIN,
  type OrderTerms,
  orderDatum,
  REFUND_AFTER_MS,
  redeemers,
} from '../layouts.ts';
import {
  ADA,
  ALICE,
  BOB,
  CREATOR,
  DEPOSIT,
  EXECUTOR,
  type Key,
  ORDER_FEE,
  SLOT_MS,
  swapped,
  utxo,
  type World,
} from '../world.ts';

const TOKEN = `${'ab'.repeat(28)}44415645`;
const OTHER = `${'cd'.repeat(28)}44415645`;
const BUY: OrderTerms = { input: LOVELACE, output: TOKEN, worst: [30n, 1000n] };
const SELL: OrderTerms = { input: TOKEN, output: LOVELACE, worst: [7n, 10n] };
const BUY_VALUE = { lovelace: 5n * ADA + ORDER_FEE + DEPOSIT };
const BUY_PAID = { lovelace: DEPOSIT, [TOKEN]: 150_000n };
const SELL_VALUE = { lovelace: ORDER_FEE + DEPOSIT, [TOKEN]: 1_000_000n };
const SELL_PAID = { lovelace: DEPOSIT + 700_000n };

interface Case {
  readonly terms: OrderTerms;
  readonly value: Assets;
  readonly redeemer: Data;
  readonly paid: Assets;
  readonly to?: string;
  readonly signer?: Key;
  readonly fromMs?: number;
}

/** One order of Alice, and a payment to her; Bob has tokens for it and takes what is left. */
function spend({ address }: World, { terms, value, redeemer, ...rest }: Case): Plan {
  const { paid, to = ALICE.address, signer = EXECUTOR, fromMs } = rest;
  const tokens = { lovelace: 10n * ADA, [TOKEN]: 5_000_000n };
  const left = 5_000_000n + (value[TOKEN] ?? 0n) - (paid[TOKEN] ?? 0n);
  return {
    inputs: [
      { utxo: utxo('10', 0, address('order', ALICE), value, orderDatum(terms)), redeemer },
      { utxo: utxo('20', 0, BOB.enterprise, tokens) },
    ],
    outputs: [
      { address: to, assets: paid },
      { address: BOB.enterprise, assets: { lovelace: 10n * ADA, [TOKEN]: left } },
    ],
    signers: [signer, BOB],
    ...(fromMs === undefined ? {} : { fromMs }),
  };
}

const buy: Case = { terms: BUY, value: BUY_VALUE, redeemer: redeemers.execute(0), paid: BUY_PAID };
const sell: Case = {
  ...{ terms: SELL, value: SELL_VALUE, redeemer: redeemers.execute(0), paid: SELL_PAID },
};
const refund: Case = {
  ...{ terms: SELL, value: SELL_VALUE, redeemer: redeemers.refund(0), fromMs: REFUND_AFTER_MS },
  paid: { ...SELL_VALUE, lovelace: DEPOSIT },
};
const cancel: Case = { ...buy, redeemer: redeemers.cancel, paid: BUY_VALUE, signer: ALICE };

legal('order: a buy exactly at its worst price', (world) => spend(world, buy));
legal('order: a sell exactly at its worst price', (world) => spend(world, sell));
legal('order: a buy for an address without stake part', (world) =>
  spend(world, { ...buy, terms: { ...BUY, redeemer: ALICE.enterprise }, to: ALICE.enterprise }),
);
legal('order: a refund at its first slot, less the fee', (world) => spend(world, refund));
legal('order: a refund of a buy', (world) =>
  spend(world, { ...refund, terms: BUY, value: BUY_VALUE, paid: { lovelace: 5n * ADA + DEPOSIT } }),
);
legal('order: a cancel by its owner', (world) => spend(world, cancel));
legal('order: a cancel that pays where the owner likes', (world) =>
  spend(world, { ...cancel, to: BOB.address, paid: { lovelace: 2n * ADA } }),
);

attack('order: execution without the executor', 'executor signature missing', (world) =>
  spend(world, { ...buy, signer: ALICE }),
);
attack('order: refund without the executor', 'executor signature missing', (world) =>
  spend(world, { ...refund, signer: ALICE }),
);
attack('order: execution by the executor of another datum', 'executor signature missing', (world) =>
  spend(world, { ...buy, terms: { ...BUY, executor: CREATOR } }),
);
attack('order: cancel by the executor', 'owner signature missing', (world) =>
  spend(world, { ...cancel, signer: EXECUTOR }),
);
attack('order: an unknown redeemer', 'no such redeemer', (world) =>
  spend(world, { ...buy, redeemer: NEVER_AGAIN }),
);
attack('order: a buy one token below its worst price', 'below worst price', (world) =>
  spend(world, { ...buy, paid: { ...BUY_PAID, [TOKEN]: 149_999n } }),
);
attack('order: a buy paid in another token', 'below worst price', (world) =>
  spend(world, { ...buy, terms: { ...BUY, output: OTHER } }),
);
attack('order: a buy whose deposit is one lovelace short', 'deposit not returned', (world) =>
  spend(world, { ...buy, paid: { ...BUY_PAID, lovelace: DEPOSIT - 1n } }),
);
attack('order: a sell one lovelace below its worst price', 'below worst price', (world) =>
  spend(world, { ...sell, paid: { lovelace: SELL_PAID.lovelace - 1n } }),
);
attack('order: tokens for tokens', 'no coin side', (world) =>
  spend(world, { ...sell, terms: { ...SELL, output: OTHER } }),
);
attack('order: a payment to another', 'wrong address', (world) =>
  spend(world, { ...buy, to: BOB.address }),
);
attack('order: a payment without the stake part', 'wrong address', (world) =>
  spend(world, { ...buy, to: ALICE.enterprise }),
);
attack('order: a payment with a foreign stake part', 'wrong address', (world) =>
  spend(world, { ...buy, to: swapped(ALICE, BOB) }),
);
attack('order: a refund to a foreign stake part', 'wrong address', (world) =>
  spend(world, { ...refund, to: swapped(ALICE, BOB) }),
);
attack('order: a refund one lovelace short', 'refund too small', (world) =>
  spend(world, { ...refund, paid: { ...SELL_VALUE, lovelace: DEPOSIT - 1n } }),
);
attack('order: a refund one token short', 'refund too small', (world) =>
  spend(world, { ...refund, paid: { lovelace: DEPOSIT, [TOKEN]: 999_999n } }),
);
attack('order: a refund one slot early', 'too early', (world) =>
  spend(world, { ...refund, fromMs: REFUND_AFTER_MS - SLOT_MS }),
);
attack('order: a refund without a lower bound', null, (world) => {
  const { fromMs: _, ...unbounded } = refund;
  return spend(world, unbounded);
});
attack('order: a negative index', 'negative index', (world) =>
  spend(world, { ...buy, redeemer: redeemers.execute(-1) }),
);
attack('order: the index of another input', 'not my index', (world) =>
  spend(world, { ...buy, redeemer: redeemers.execute(1) }),
);
attack('order: an index beyond the inputs', 'index out of range', (world) =>
  spend(world, { ...buy, redeemer: redeemers.execute(7) }),
);

/** Two equal orders of Alice. */
function twins(world: World, second: Data, paid: Assets): Plan {
  const plan = spend(world, buy);
  const twin = utxo('11', 0, world.address('order', ALICE), BUY_VALUE, orderDatum(BUY));
  const [first, bob] = plan.inputs;
  const [payment, rest] = plan.outputs;
  if (!first || !bob || !payment || !rest) throw new Error('two inputs, two outputs');
  const left = 5_000_000n - (BUY_PAID[TOKEN] ?? 0n) - (paid[TOKEN] ?? 0n);
  return {
    ...plan,
    inputs: [first, { utxo: twin, redeemer: second }, bob],
    outputs: [
      payment,
      { ...payment, assets: paid },
      { ...rest, assets: { lovelace: 10n * ADA, [TOKEN]: left } },
    ],
  };
}

legal('order: two equal orders, each with its own payment', (world) =>
  twins(world, redeemers.execute(1), BUY_PAID),
);
attack('order: one payment for two equal orders', 'not my index', (world) =>
  twins(world, redeemers.execute(0), { lovelace: 2n * ADA }),
);
attack('order: a payment only to the first of two', 'below worst price', (world) =>
  twins(world, redeemers.execute(1), { lovelace: 2n * ADA }),
);
