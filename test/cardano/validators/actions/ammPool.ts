/** Trades on the AMM: the product, what is owed to the creator, and what a trade may not do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Assets, Constr, type Data } from '@lucid-evolution/lucid';
import { amountOut } from '../../../../src/engine/market/amm.ts';
import { attack, legal } from '../cases.ts';
import type { Input, Output, Plan } from '../judge.ts';
import {
  ammDatum,
  changed,
  type Ids,
  launched,
  longer,
  NEVER_AGAIN,
  redeemers,
} from '../layouts.ts';
import {
  ADA,
  ALICE,
  BOB,
  CREATOR,
  EXECUTOR,
  KEEP,
  type Key,
  PLATFORM,
  utxo,
  type World,
} from '../world.ts';

const X = 18_188_400_000n;
const Y = 263_536_686n;
const OWED = 7_000_000n;
/** Of a buy of 5 ADA: 1 % to the creator, 0.15 % to the platform. */
const CREATOR_SHARE = 50_000n;
const IN = 5n * ADA - CREATOR_SHARE - 7_500n;
const OUT = amountOut(IN, X, Y, 15n);
const SOLD = 50_000n;
const GROSS = amountOut(SOLD, Y, X, 15n);
const SOLD_SHARE = GROSS / 100n;

interface Case {
  readonly x: bigint;
  readonly y: bigint;
  readonly owed: bigint;
  readonly datum1?: (datum: Constr<Data>) => Constr<Data>;
  readonly address1?: (world: World) => string;
  readonly assets1?: (assets: Assets, ids: Ids) => Assets;
  readonly redeemer?: Data;
  readonly signer?: Key;
}

const buy: Case = { x: X + IN, y: Y - OUT, owed: OWED + CREATOR_SHARE };
const sell: Case = { x: X - GROSS, y: Y + SOLD, owed: OWED + SOLD_SHARE };

function pool(world: World, ids: Ids, index: number, trade: Case): [Input, Output] {
  const { x, y, owed, datum1, address1, assets1 } = trade;
  const before = { lovelace: X + KEEP + OWED, [ids.token]: Y, [ids.nft]: 1n };
  const after = { lovelace: x + KEEP + owed, [ids.token]: y, [ids.nft]: 1n };
  const datum = ammDatum(ids, { owed });
  const address = world.address('ammPool');
  return [
    {
      utxo: utxo(`1${index}`, 0, address, before, ammDatum(ids, { owed: OWED })),
      redeemer: trade.redeemer ?? redeemers.trade(index),
    },
    {
      address: address1?.(world) ?? address,
      assets: assets1?.(after, ids) ?? after,
      datum: datum1?.(datum) ?? datum,
    },
  ];
}

/** Bob brings tokens of both launches. */
function withBob(world: World, pools: readonly [Input, Output][], signer = EXECUTOR): Plan {
  const held: Assets = { lovelace: 5n * ADA };
  for (const seed of ['aa', 'bb']) held[launched(world, seed).token] = SOLD;
  const bob = { utxo: utxo('20', 0, BOB.enterprise, held) };
  return {
    inputs: [...pools.map(([input]) => input), bob],
    outputs: pools.map(([, output]) => output),
    signers: [signer, BOB],
  };
}

const trade = (world: World, one: Case): Plan =>
  withBob(world, [pool(world, launched(world), 0, one)], one.signer);

const two = (world: World, first: Case, second: Case): Plan =>
  withBob(world, [
    pool(world, launched(world), 0, first),
    pool(world, launched(world, 'bb'), 1, second),
  ]);

test('the examples of onchain.md are what is traded here', () => {
  assert.equal(OUT, 71_486n);
  assert.equal(GROSS, 3_444_999n);
});

legal('amm: a buy, all its tokens', (world) => trade(world, buy));
legal('amm: a sell, all its lovelace', (world) => trade(world, sell));
legal('amm: two pools at once', (world) => two(world, buy, sell));

attack('amm: a buy of one token too many', 'product shrank', (world) =>
  trade(world, { ...buy, y: buy.y - 1n }),
);
attack('amm: a sell for one lovelace too many', 'product shrank', (world) =>
  trade(world, { ...sell, x: sell.x - 1n }),
);
attack('amm: two pools, the second one lovelace short', 'product shrank', (world) =>
  two(world, buy, { ...sell, x: sell.x - 1n }),
);
attack('amm: two pools, both paired with the first', 'not my index', (world) =>
  two(world, buy, { ...sell, redeemer: redeemers.trade(0) }),
);
attack('amm: reserve declared as owed', 'product shrank', (world) =>
  trade(world, { x: X - 1n, y: Y, owed: OWED + 1n }),
);
attack('amm: owed to the creator shrinks', 'owed shrank', (world) =>
  trade(world, { x: X + 1n, y: Y, owed: OWED - 1n }),
);
attack('amm: all tokens taken', 'pool emptied', (world) =>
  trade(world, { x: X + 30_000n * ADA, y: 0n, owed: OWED }),
);
attack('amm: all lovelace taken', 'pool emptied', (world) =>
  trade(world, { x: 0n, y: Y + SOLD, owed: OWED }),
);
attack('amm: more than all lovelace taken', 'pool emptied', (world) =>
  trade(world, { x: -1n, y: Y - SOLD, owed: OWED }),
);
attack('amm: a trade without the executor', 'executor signature missing', (world) =>
  trade(world, { ...buy, signer: CREATOR }),
);
attack('amm: an unknown redeemer', 'no such redeemer', (world) =>
  trade(world, { ...buy, redeemer: NEVER_AGAIN }),
);
attack('amm: Never', 'no such redeemer', (world) =>
  trade(world, { ...buy, redeemer: new Constr<Data>(2, []) }),
);
attack('amm: a negative index', 'negative index', (world) =>
  trade(world, { ...buy, redeemer: redeemers.trade(-1) }),
);
attack('amm: the index of another input', 'not my index', (world) =>
  trade(world, { ...buy, redeemer: redeemers.trade(1) }),
);
attack('amm: the NFT stolen', 'wrong value', (world) =>
  trade(world, { ...buy, assets1: ({ [launched(world).nft]: _, ...rest }) => rest }),
);
attack('amm: a foreign token put into the pool', 'wrong value', (world) =>
  trade(world, {
    ...buy,
    assets1: (assets) => ({ ...assets, [launched(world, 'bb').token]: 1n }),
  }),
);
attack('amm: to an address with a stake part', 'address changed', (world) =>
  trade(world, { ...buy, address1: ({ address }) => address('ammPool', PLATFORM) }),
);
attack('amm: back to the curve', 'address changed', (world) =>
  trade(world, { ...buy, address1: ({ address }) => address('curvePool') }),
);
const others: readonly Data[] = [
  new Constr(0, ['', '61']),
  new Constr(0, ['', '61']),
  new Constr(0, ['', '61']),
  0n,
  ALICE.pkh,
  ALICE.pkh,
  ALICE.skh,
];
for (const [field, to] of others.entries()) {
  attack(`amm: field ${field} of the datum changed`, 'datum changed', (world) =>
    trade(world, { ...buy, datum1: (datum) => changed(datum, field, to) }),
  );
}
attack('amm: a field added to the datum', 'datum changed', (world) =>
  trade(world, { ...buy, datum1: longer }),
);
