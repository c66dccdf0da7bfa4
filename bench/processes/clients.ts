/**
 * Clients that trade through the public HTTP API with real signatures, each one order after the
 * other: a buy, then a sell of what such a buy gives.
 */
import { blake2b256 } from '../../src/cardano/codec/hash.ts';
import { ApiClient, type OrderRequest } from '../../src/client/trade/api.ts';
import { Desk, type PlacedOrder } from '../../src/client/trade/desk.ts';
import { ApiFailure } from '../../src/client/trade/failure.ts';
import { pictureOf } from '../../src/client/trade/picture.ts';
import { Wallet } from '../../src/client/trade/wallet.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { machineMs } from '../support/machineClock.ts';
import { offer } from '../support/offers.ts';

export type Clients = typeof offers;

export interface Placement {
  readonly id: string;
  readonly askedMs: number;
  /** The server took the signed transaction. */
  readonly acceptedMs: number;
}

export interface Trading {
  readonly placements: readonly Placement[];
  /** Cause and count. */
  readonly failures: Readonly<Record<string, number>>;
  readonly cpuMs: number;
}

const ADA = 1_000_000n;
const FAUCET_ADA = 10_000;
const STOCK_LOVELACE = 200n * ADA;
const BUY_LOVELACE = 10n * ADA;
const AGAIN_MS = 100;
const PATIENCE_MS = 30_000;

interface Trader {
  readonly desk: Desk;
  readonly assetId: string;
  /** Tokens of the last buy, to be sold next. */
  bought: bigint;
}

let traders: readonly Trader[] = [];
let failures: Record<string, number> = {};

function deskOf(client: ApiClient, name: string): Desk {
  const secret = (part: string) => blake2b256(Buffer.from(`bench/${name}/${part}`));
  return new Desk(
    client,
    new Wallet({ payment: secret('payment'), stake: secret('stake') }, 'testnet'),
  );
}

function ok<T>(answer: T | ApiFailure): T {
  if (!(answer instanceof ApiFailure)) return answer;
  throw new Error(`${answer.cause} ${answer.reason ?? ''}: ${answer.message}`);
}

/** Until it answers something else than a failure or null. */
async function patiently<T>(ask: () => Promise<T | ApiFailure | null>): Promise<T> {
  const endMs = machineMs() + PATIENCE_MS;
  for (;;) {
    const answer = await ask();
    const isFailure = answer instanceof ApiFailure;
    if (answer !== null && !isFailure) return answer;
    if (machineMs() > endMs) throw new Error(isFailure ? answer.message : 'nothing came of it');
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

async function launched(desk: Desk, number: number): Promise<string> {
  const name = `Bench ${number}`;
  const { asset } = ok(
    await desk.launch({
      name,
      ticker: 'BENCH',
      description: 'A token of a bench.',
      assetType: 'Meme',
      launchType: 'DEFAULT',
      initialLovelace: 0n,
      image: { bytes: pictureOf(name), mediaType: 'image/png' },
    }),
  );
  return asset;
}

function buying(assetId: string, amount: bigint): OrderRequest {
  return { assetId, side: 'BUY', amount, slippage: 'infinity' };
}

function selling(assetId: string, amount: bigint): OrderRequest {
  return { assetId, side: 'SELL', amount, slippage: 'infinity' };
}

/** Places orders until the time is over. */
async function trade(trader: Trader, endMs: number, placements: Placement[]): Promise<void> {
  const { desk, assetId } = trader;
  while (machineMs() < endMs) {
    const { bought } = trader;
    const askedMs = machineMs();
    const request = bought > 0n ? selling(assetId, bought) : buying(assetId, BUY_LOVELACE);
    const placed: PlacedOrder | ApiFailure = await desk.order(request);
    if (placed instanceof ApiFailure) {
      const what = `${placed.cause} ${placed.reason ?? ''}`.trim();
      failures[what] = (failures[what] ?? 0) + 1;
      continue;
    }
    trader.bought = bought > 0n ? 0n : placed.outputAmount;
    placements.push({ id: placed.id, askedMs, acceptedMs: machineMs() });
  }
}

const offers = {
  /** Funds the wallets, launches the tokens, and gives every client a stock of one of them. */
  async prepare(wish: { readonly url: string; readonly clients: number; readonly tokens: number }) {
    const { url: baseUrl, clients, tokens } = wish;
    const client = new ApiClient({ baseUrl, fetch, clock: systemClock, timeoutMs: 60_000 });
    const desks = Array.from({ length: clients }, (_, at) => deskOf(client, `client ${at}`));
    const creator = deskOf(client, 'creator');
    for (const { wallet } of [creator, ...desks])
      ok(await client.faucet(wallet.address, FAUCET_ADA));
    const assets: string[] = [];
    for (let number = 0; number < tokens; number += 1) {
      assets.push(await patiently(() => launched(creator, number).catch(failureOf)));
    }
    traders = desks.map((desk, at) => ({ desk, assetId: assets[at % tokens] ?? '', bought: 0n }));
    for (const { desk, assetId } of traders) {
      await patiently(() => desk.order(buying(assetId, STOCK_LOVELACE)));
    }
    for (const { desk, assetId } of traders) {
      await patiently(async () => {
        const utxos = ok(await client.utxos(desk.wallet.keyHash));
        return utxos.some(({ value }) => value.assets.has(assetId)) ? true : null;
      });
    }
  },
  async trade(seconds: number): Promise<Trading> {
    failures = {};
    const placements: Placement[] = [];
    const startCpu = process.cpuUsage();
    const endMs = machineMs() + seconds * 1000;
    await Promise.all(traders.map((trader) => trade(trader, endMs, placements)));
    const { user, system } = process.cpuUsage(startCpu);
    return { placements, failures, cpuMs: (user + system) / 1000 };
  },
};

function failureOf(error: unknown): ApiFailure {
  return new ApiFailure('UNKNOWN', String(error));
}

offer(offers);
