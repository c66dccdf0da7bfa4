/**
 * Clients that trade through the public HTTP API with real signatures, each one order after the
 * other: a buy, then a sell of the tokens from that buy.
 */
import { blake2b256 } from '../../src/cardano/codec/hash.ts';
import { ApiError, Client } from '../../src/client/index.ts';
import { pictureOf } from '../../src/client/trade/picture.ts';
import { type OrderRequest, TradingClient } from '../../src/client/trade/tradingClient.ts';
import { KeyWallet } from '../../src/client/trade/wallet.ts';
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
  readonly trading: TradingClient;
  readonly assetId: string;
  /** Tokens of the last buy, to be sold next. */
  bought: bigint;
}

let traders: readonly Trader[] = [];
let failures: Record<string, number> = {};

function traderOf(client: Client, name: string): TradingClient {
  const secret = (part: string) => blake2b256(Buffer.from(`bench/${name}/${part}`));
  return new TradingClient(
    client,
    new KeyWallet({ payment: secret('payment'), stake: secret('stake') }, 'testnet'),
  );
}

/** Until it answers something else than an error or null. */
async function patiently<T>(ask: () => Promise<T | null>): Promise<T> {
  const endMs = machineMs() + PATIENCE_MS;
  for (;;) {
    const answer = await ask().catch(asValue);
    const isError = answer instanceof ApiError;
    if (answer !== null && !isError) return answer;
    if (machineMs() > endMs) throw new Error(isError ? answer.message : 'nothing came of it');
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

async function launched(trader: TradingClient, number: number): Promise<string> {
  const name = `Bench ${number}`;
  const { asset } = await trader.launch({
    name,
    ticker: 'BENCH',
    description: 'A token of a bench.',
    assetType: 'Meme',
    launchType: 'DEFAULT',
    initialLovelace: 0n,
    image: new Blob([pictureOf(name)], { type: 'image/png' }),
  });
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
  const { trading, assetId } = trader;
  while (machineMs() < endMs) {
    const { bought } = trader;
    const askedMs = machineMs();
    const request = bought > 0n ? selling(assetId, bought) : buying(assetId, BUY_LOVELACE);
    const placed = await trading.order(request).catch(asValue);
    if (placed instanceof ApiError) {
      const what = `${placed.cause} ${placed.reason ?? ''}`.trim();
      failures[what] = (failures[what] ?? 0) + 1;
      continue;
    }
    trader.bought = bought > 0n ? 0n : placed.outputAmount;
    placements.push({ id: placed.id, askedMs, acceptedMs: machineMs() });
  }
}

const offers = {
  /** Funds the wallets, launches the tokens, and gives every client a stock of one token. */
  async prepare(options: {
    readonly url: string;
    readonly clients: number;
    readonly tokens: number;
  }) {
    const { url, clients, tokens } = options;
    const client = new Client({ url, timeoutMs: 60_000, maxAttempts: 4 });
    const funded = Array.from({ length: clients }, (_, at) => traderOf(client, `client ${at}`));
    const creator = traderOf(client, 'creator');
    for (const { wallet } of [creator, ...funded])
      await client.devnet.faucet({ address: wallet.address, ada: FAUCET_ADA });
    const assets: string[] = [];
    for (let number = 0; number < tokens; number += 1) {
      assets.push(await patiently(() => launched(creator, number)));
    }
    traders = funded.map((trading, at) => {
      return { trading, assetId: assets[at % tokens] ?? '', bought: 0n };
    });
    for (const { trading, assetId } of traders) {
      await patiently(() => trading.order(buying(assetId, STOCK_LOVELACE)));
    }
    for (const { trading, assetId } of traders) {
      await patiently(async () => {
        const utxos = await trading.utxos();
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

function asValue(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  throw error;
}

offer(offers);
