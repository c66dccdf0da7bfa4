/**
 * Transactions of a small market and much else, as a chain would hold them: launches, orders, what
 * ends them, trades, transfers, locks, failed scripts, and transactions that only look like that.
 */

import type { OutputRef } from '../../../src/cardano/codec/output.ts';
import { Constr } from '../../../src/cardano/codec/plutusData.ts';
import type { Transaction } from '../../../src/cardano/codec/transaction.ts';
import { asValue, coins } from '../../../src/cardano/codec/value.ts';
import { lockData, poolData } from '../../../src/cardano/datums/datums.ts';
import { capLovelace } from '../../../src/cardano/datums/deployment.ts';
import { dataHex } from '../../../src/cardano/transactions/plan.ts';
import { addressOf, keyNamed } from '../../support/ledgerWorld.ts';
import {
  ADA,
  ALICE,
  aliceText,
  atScript,
  deployment,
  failing,
  type Launch,
  launchOf,
  orderOf,
  someRef,
  transaction,
} from '../recogniseWorld.ts';

export const DEEDS = [
  'payment',
  'foreign mint',
  'foreign order',
  'launch',
  'order',
  'end of an order',
  'trade',
  'transfer',
  'burn',
  'lock',
  'failed scripts',
  'sweep',
] as const;
export type Action = (typeof DEEDS)[number];

interface Held {
  readonly ref: OutputRef;
  readonly token: string;
}

/** Outputs that can be spent. The caller restores an older value when it takes blocks back. */
export interface Holdings {
  readonly launches: readonly (Launch & { readonly x: bigint; readonly y: bigint })[];
  readonly orders: readonly OutputRef[];
  readonly tokens: readonly Held[];
}

export const NO_HOLDINGS: Holdings = { launches: [], orders: [], tokens: [] };

const FOREIGN = `${'ee'.repeat(28)}.aa`;
const POOL_ADA = 5n * ADA;

/** Does something that fits; `at` picks of what there is. Else a payment. */
export function perform(
  action: Action,
  at: number,
  holdings: Holdings,
): { readonly tx: Transaction; readonly left: Holdings } {
  const { launches, orders, tokens } = holdings;
  const launch = launches[at % Math.max(1, launches.length)];
  const order = orders[at % Math.max(1, orders.length)];
  const held = tokens[at % Math.max(1, tokens.length)];
  const toAlice = { address: aliceText, value: coins(2n * ADA) };
  const same = (tx: Transaction) => ({ tx, left: holdings });
  if (action === 'foreign mint') {
    const outputs = [{ ...toAlice, value: asValue(ADA, [[FOREIGN, 7n]]) }];
    return same(transaction({ mint: new Map([[FOREIGN, 7n]]), outputs }));
  }
  if (action === 'foreign order') return same(orderOf(FOREIGN, at % 2 === 0 ? 'buy' : 'sell').tx);
  if (action === 'launch') return launched(launchOf(`T${at}`), holdings);
  if (action === 'order' && launch !== undefined) {
    const made = orderOf(launch.token, at % 2 === 0 ? 'buy' : 'sell');
    return { tx: made.tx, left: { ...holdings, orders: [...orders, made.ref] } };
  }
  if (action === 'end of an order' && order !== undefined) {
    const tx = transaction({
      inputs: [order],
      spends: { 0: new Constr(at % 2, []) },
      outputs: [toAlice],
    });
    return { tx, left: { ...holdings, orders: orders.filter((each) => each !== order) } };
  }
  if (action === 'trade' && launch !== undefined) return traded(launch, holdings);
  if (held === undefined) return same(transaction({ outputs: [toAlice] }));
  return withTokens(action, held, holdings);
}

function launched(launch: Launch, { launches, tokens, ...rest }: Holdings) {
  const { tx, token } = launch;
  const bought = { ref: { txHash: tx.id, index: 2 }, token };
  const y = deployment.curve.supply - 1_000n;
  const known = { ...launch, x: POOL_ADA, y };
  return {
    tx,
    left: { ...rest, launches: [...launches, known], tokens: [...tokens, bought] },
  };
}

/** Somebody takes tokens out of the pool, for more lovelace in it. */
function traded(launch: Holdings['launches'][number], holdings: Holdings) {
  const { token, nft, pool } = launch;
  const [x, y] = [launch.x + ADA, launch.y - 10n];
  const { curve, executorKeyHash: executor, feeKeyHash, scripts } = deployment;
  const datum = poolData({
    nft,
    token,
    aNum: curve.aNum,
    bNum: curve.bNum,
    executor,
    capLovelace: capLovelace(deployment),
    witness1: scripts.ammPool.hash,
    witness2: feeKeyHash,
  });
  const value = asValue(x, [
    [nft, 1n],
    [token, y],
  ]);
  const outputs = [
    { address: atScript('curvePool'), value, datum: dataHex(datum) },
    { address: addressOf('bob'), value: asValue(2n * ADA, [[token, 10n]]) },
  ];
  const tx = transaction({ inputs: [pool], spends: { 0: new Constr(0, []) }, outputs });
  const moved = { ...launch, pool: { txHash: tx.id, index: 0 }, x, y };
  const launches = holdings.launches.map((each) => (each === launch ? moved : each));
  const bought = { ref: { txHash: tx.id, index: 1 }, token };
  return { tx, left: { ...holdings, launches, tokens: [...holdings.tokens, bought] } };
}

function withTokens(action: Action, held: Held, holdings: Holdings) {
  const { ref, token } = held;
  const others = holdings.tokens.filter((each) => each !== held);
  const value = asValue(2n * ADA, [[token, 10n]]);
  const moved = (tx: Transaction) => {
    const tokens = [...others, { ref: { txHash: tx.id, index: 0 }, token }];
    return { tx, left: { ...holdings, tokens } };
  };
  const gone = (tx: Transaction) => ({ tx, left: { ...holdings, tokens: others } });
  if (action === 'burn')
    return gone(transaction({ inputs: [ref], mint: new Map([[token, -10n]]) }));
  if (action === 'sweep') {
    const outputs = [{ address: aliceText, value: coins(ADA) }];
    return gone(transaction({ inputs: [ref, someRef()], outputs }));
  }
  if (action === 'lock') {
    const data = lockData({ unlockMs: 1_800_000_000_000n, owner: keyNamed('alice').hash });
    const address = atScript('vesting', ALICE.stake);
    return gone(
      transaction({ inputs: [ref], outputs: [{ address, value, datum: dataHex(data) }] }),
    );
  }
  if (action === 'failed scripts') return moved(failing([ref], { address: aliceText, value }, []));
  return moved(transaction({ inputs: [ref], outputs: [{ address: aliceText, value }] }));
}
