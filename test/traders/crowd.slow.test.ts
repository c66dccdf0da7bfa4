/** The crowd on a real devnet, through its public API: a market comes to life, and stops. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { Crowd } from '../../src/traders/crowd.ts';
import type { Report } from '../../src/traders/messages.ts';
import { tradersService } from '../../src/traders/service.ts';
import { scriptedServer } from '../client/trade/world.ts';
import { readHealth } from '../support/chart.ts';
import { startDevnet } from '../support/devnet.ts';
import { until, untilAsked } from '../support/until.ts';
import { CONFIG } from './views.ts';

const LIVELY = {
  ...CONFIG,
  wallets: 6,
  outputsEach: 9,
  others: {
    ...CONFIG.others,
    lockPercent: 15,
    transferPercent: 15,
    lockSeconds: [1, 2],
    consolidateFromOutputs: 10,
  },
  orders: { ...CONFIG.orders, cancelPercent: 20 },
} satisfies typeof CONFIG;

test('they launch, buy, sell, cancel, lock, withdraw and send', { timeout: 240_000 }, async (t) => {
  const baseUrl = await startDevnet(t, LIVELY);
  const reports: Report[] = [];
  const report = (one: Report) => reports.push(one);
  const options = { baseUrl, config: LIVELY, pace: 10, seed: 7, clock: systemClock, fetch, report };
  const crowd = new Crowd(options);
  const count = (kind: string) =>
    reports.filter((one) => one.kind === 'acted' && one.action === kind).length;
  crowd.start();
  const often = { launch: 3, buy: 10, sell: 2 };
  const wanted = { ...often, cancel: 1, lock: 1, withdraw: 1, transfer: 1, consolidate: 1 };
  await until(
    () => `${JSON.stringify(reports.slice(-5))}`,
    () => Object.entries(wanted).every(([kind, least]) => count(kind) >= least),
    180_000,
  );
  await crowd.stop();
  const reported = reports.length;
  assert.deepEqual(
    reports.filter(({ kind }) => kind === 'fault'),
    [],
  );
  const unsigned = reports.filter(
    (one) => one.kind === 'refused' && /NOT_WHAT_WAS_ASKED|BAD_/.test(one.cause),
  );
  assert.deepEqual(unsigned, []);
  const { seq } = await readHealth(baseUrl);
  const later = () => readHealth(baseUrl);
  await untilAsked('the market continues without them', later, (now) => now.seq > seq + 3);
  assert.equal(reports.length, reported, 'nothing happens after the stop');
});

test('the thread waits for a server that is not ready, and stops on request', async (t) => {
  const busy = { status: 503, body: { cause: 'NOT_READY', message: 'syncing' } };
  const { baseUrl, asked } = await scriptedServer(t, [busy]);
  const failures: string[] = [];
  const observer = {
    traderActed: () => failures.push('acted'),
    traderRefused: () => failures.push('refused'),
    tradersFailed: (message: string) => failures.push(message),
  };
  const options = { config: CONFIG, pace: 1, seed: 1, clock: systemClock, observer };
  const service = tradersService({ ...options, baseUrl: () => baseUrl });
  await service.start();
  await until('it asks', () => asked.length > 2, 30_000);
  await service.stop();
  assert.deepEqual(failures, []);
});

test('a thread that dies is reported and restarted, and the process lives', async (t) => {
  const { baseUrl } = await scriptedServer(t, [null]);
  const failures: string[] = [];
  const observer = {
    traderActed: () => {},
    traderRefused: () => {},
    tradersFailed: (message: string) => failures.push(message),
  };
  const broken = Object.assign({}, CONFIG, { wallets: 2 ** 33 });
  const options = { config: broken, pace: 1, seed: 1, clock: systemClock, observer };
  const service = tradersService({ ...options, baseUrl: () => baseUrl });
  await service.start();
  await until('it dies twice', () => failures.length === 2, 30_000);
  assert.match(failures[0] ?? '', /RangeError/);
  await service.stop();
});

test('at pace 0 there is no thread', async () => {
  const observer = { traderActed: () => {}, traderRefused: () => {}, tradersFailed: assert.fail };
  const baseUrl = () => assert.fail('the port is not read');
  const options = { config: CONFIG, pace: 0, seed: 1, clock: systemClock, observer };
  const service = tradersService({ ...options, baseUrl });
  await service.start();
  await service.stop();
});
