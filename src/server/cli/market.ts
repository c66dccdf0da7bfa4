/** Commands of a person: a key file, a server that runs, one transaction each. */

import { ApiClient } from '../../client/trade/api.ts';
import { Desk } from '../../client/trade/desk.ts';
import type { Fetch } from '../../client/trade/transport.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { balance, faucet, launch, lock, withdraw } from './holding.ts';
import type { MarketAction, MarketCommand } from './marketArguments.ts';
import { buy, cancel, sell } from './trading.ts';
import { DONE, FAILED, MISUSED, type Visit } from './visit.ts';
import { createWallet, openWallet } from './walletFile.ts';

export interface MarketWorld {
  readonly clock: Clock;
  readonly fetch: Fetch;
  /** Ends what waits. */
  readonly signal?: AbortSignal;
  /** A line of the result, and a line about what went wrong. */
  say(line: string): void;
  complain(line: string): void;
}

/** The exit code: 0 done, 1 refused or unreachable, 2 no usable wallet or file. */
export async function runMarket(command: MarketCommand, world: MarketWorld): Promise<number> {
  const { action, client: options } = command;
  if (action.name === 'wallet new') return newWallet(options.walletFile, world);
  const opened = openWallet(options.walletFile);
  if (typeof opened === 'string') {
    world.complain(opened);
    return MISUSED;
  }
  if (opened.warning !== null) world.complain(opened.warning);
  const { clock, fetch, signal, say, complain } = world;
  const stop = signal === undefined ? {} : { signal };
  const client = new ApiClient({ baseUrl: options.url, fetch, clock, ...stop });
  const desk = new Desk(client, opened.wallet);
  return perform({ desk, clock, wait: options.wait, say, complain }, action);
}

function newWallet(file: string, world: MarketWorld): number {
  const wallet = createWallet(file);
  if (typeof wallet === 'string') {
    world.complain(wallet);
    return FAILED;
  }
  world.say(`Wrote ${file}: whoever has this file has the coins.`);
  world.say(`Address ${wallet.address}`);
  return DONE;
}

function perform(
  visit: Visit,
  action: Exclude<MarketAction, { readonly name: 'wallet new' }>,
): Promise<number> {
  switch (action.name) {
    case 'wallet balance':
      return balance(visit);
    case 'wallet faucet':
      return faucet(visit, action.ada);
    case 'launch':
      return launch(visit, action);
    case 'buy':
      return buy(visit, action);
    case 'sell':
      return sell(visit, action);
    case 'cancel':
      return cancel(visit, action);
    case 'lock':
      return lock(visit, action);
    case 'withdraw':
      return withdraw(visit, action.id);
  }
}
