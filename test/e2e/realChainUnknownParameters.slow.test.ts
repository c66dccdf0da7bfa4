/**
 * The network votes for a protocol version that this version of upcurve does not know, and its
 * Ogmios evaluates nothing: what each route that builds answers over HTTP, before, then, and after.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ApiError } from '../../src/client/index.ts';
import type { TradingClient } from '../../src/client/trade/tradingClient.ts';
import { MAINNET_645 } from '../../src/devnet/parameters.ts';
import { outcomeOf } from '../support/apiError.ts';
import { until, untilAsked } from '../support/until.ts';
import { ADA, launchOf } from './devnet/world.ts';
import type { Real } from './realChainWorld.ts';
import { built, KEYS, RealLedger } from './realTradeWorld.ts';

const AGAIN_SECONDS = 60;
const SLOT_MS = 1_000;

/** Calls every route of the API that builds transactions: its answers, shortened. */
async function answers(trader: TradingClient, subjects: Subjects): Promise<Record<string, string>> {
  const { asset, order, lock } = subjects;
  const sell = { assetId: asset, side: 'SELL', amount: 1_000_000n, slippage: '50' } as const;
  const later = { assetId: asset, amount: 10n, stages: 1, lockEndMs: Date.now() + 3_600_000 };
  const some = { to: trader.wallet.address, lovelace: 5n * ADA, assets: new Map<string, bigint>() };
  return {
    '/quote': saidBy(await outcomeOf(trader.quote(sell))),
    '/order': saidBy(await outcomeOf(trader.prepareOrder(sell))),
    '/launch': saidBy(await outcomeOf(trader.prepareLaunch(launchOf({ name: 'Next' })))),
    '/cancel': saidBy(await outcomeOf(trader.prepareCancel(order))),
    '/withdraw': saidBy(await outcomeOf(trader.prepareWithdraw(lock))),
    '/create-lock': saidBy(await outcomeOf(trader.prepareLock(later))),
    '/transfer': saidBy(await outcomeOf(trader.prepareTransfer(some))),
  };
}

interface Subjects {
  readonly asset: string;
  /** An open order, and a lock that is due. */
  readonly order: string;
  readonly lock: string;
}

function saidBy(outcome: unknown): string {
  if (!(outcome instanceof ApiError)) return 'built';
  const { status, cause, message, retryAfterSeconds } = outcome;
  const isClear = /protocol version 12\b.*install a version that knows it, or use an Ogmios/.test(
    message,
  );
  return `${status} ${cause} ${retryAfterSeconds ?? '-'} ${isClear ? 'says why' : message}`;
}

async function open(t: TestContext) {
  const ledger = await RealLedger.open(t);
  // Only the collateral's key: the order stays open.
  const { real, trader } = await ledger.follow({ secrets: { ...KEYS, executor: null, fee: null } });
  const request = launchOf({ initialLovelace: 30n * ADA });
  const { asset } = await built('the launch is built', () => trader.launch(request));
  await ledger.mine();
  const buy = { assetId: asset, side: 'BUY', amount: 8n * ADA, slippage: '50' } as const;
  const { id: order } = await trader.order(buy);
  await ledger.mine();
  let lockEndMs = 0;
  const locking = () => {
    lockEndMs = Date.now() + 2_000;
    return outcomeOf(trader.lock({ assetId: asset, amount: 10n, stages: 1, lockEndMs }));
  };
  // Its end may be over before it is asked for.
  const isMade = (found: unknown) => !(found instanceof ApiError);
  const locked = await untilAsked('a lock is made', locking, isMade);
  assert.ok(!(locked instanceof ApiError));
  await ledger.mine();
  const isLocked = ({ id }: { readonly id: string }) => id.startsWith(locked.txHash);
  const lock = (await trader.locks()).find(isLocked)?.id ?? assert.fail('it is listed');
  // It opens with the first slot that begins after its end.
  await until('the lock is due', () => Date.now() > lockEndMs + SLOT_MS);
  return { ledger, real, trader, subjects: { asset, order, lock } };
}

async function cannotEvaluate(real: Real): Promise<boolean> {
  const { body } = await real.get('/health/ready');
  return JSON.stringify(body).includes('SCRIPTS_NOT_EVALUATED');
}

const BUILT = {
  '/quote': 'built',
  '/order': 'built',
  '/launch': 'built',
  '/cancel': 'built',
  '/withdraw': 'built',
  '/create-lock': 'built',
  '/transfer': 'built',
};
const NO_SCRIPTS = {
  ...BUILT,
  '/order': '500 PROTOCOL_CONFIG - says why',
  '/launch': '500 PROTOCOL_CONFIG - says why',
  '/cancel': `503 NOT_READY ${AGAIN_SECONDS} says why`,
  '/withdraw': `503 NOT_READY ${AGAIN_SECONDS} says why`,
};

test('where no script is evaluated, what runs none is built, and the rest says why', async (t) => {
  const { ledger, real, trader, subjects } = await open(t);
  assert.deepEqual(await answers(trader, subjects), BUILT, 'by parameters that are known');
  const { ogmios } = ledger.bridge;
  const parameters = { ...MAINNET_645.json, version: { major: 12, minor: 0 } };
  ogmios.facts = { ...ogmios.facts, parameters };
  await untilAsked(
    'it is known',
    () => cannotEvaluate(real),
    (isKnown) => isKnown,
  );
  assert.deepEqual(await answers(trader, subjects), NO_SCRIPTS);
  ogmios.facts = { ...ogmios.facts, parameters: MAINNET_645.json };
  await untilAsked(
    'it is over',
    () => cannotEvaluate(real),
    (isKnown) => !isKnown,
  );
  assert.deepEqual(await answers(trader, subjects), BUILT, 'as before');
});
