/** Runs a wallet command: opens the key file, asks a running server, signs one transaction. */
import { ApiError, Client, type Fetch } from '../../client/index.ts';
import { TradingClient } from '../../client/trade/tradingClient.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { type CommandContext, DONE, FAILED, MISUSED } from './commandContext.ts';
import type { WalletAction, WalletCommand } from './walletArguments.ts';
import { balance, buy, cancel, faucet, launch, lock, sell, withdraw } from './walletCommands.ts';
import { createWallet, openWallet } from './walletFile.ts';

export interface WalletCommandDeps {
  readonly clock: Clock;
  readonly fetch: Fetch;
  /** Ends all waiting. */
  readonly signal?: AbortSignal;
  /** `say` prints a line of the result, `complain` one about a problem. */
  say(line: string): void;
  complain(line: string): void;
}

/** A busy server names the time after which it is asked again. */
const MAX_ATTEMPTS = 4;
const NEVER = new AbortController().signal;

/** Exit code: 0 done, 1 refused or unreachable, 2 no usable wallet or file. */
export async function runWalletCommand(
  command: WalletCommand,
  world: WalletCommandDeps,
): Promise<number> {
  const { action, client: options } = command;
  if (action.name === 'wallet new') return newWallet(options.walletFile, world);
  const opened = openWallet(options.walletFile);
  if (typeof opened === 'string') {
    world.complain(opened);
    return MISUSED;
  }
  if (opened.warning !== null) world.complain(opened.warning);
  const { clock, fetch, signal = NEVER, say, complain } = world;
  const client = new Client({ url: options.url, fetch, clock, maxAttempts: MAX_ATTEMPTS });
  const stop = () => client.close();
  signal.addEventListener('abort', stop);
  const trading = new TradingClient(client, opened.wallet);
  try {
    return await perform({ trading, clock, signal, wait: options.wait, say, complain }, action);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const reason = error.reason === null ? '' : ` (${error.reason})`;
    complain(`${action.name}: ${error.cause}${reason}: ${error.message}`);
    return FAILED;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function newWallet(file: string, world: WalletCommandDeps): number {
  const wallet = createWallet(file);
  if (typeof wallet === 'string') {
    world.complain(wallet);
    return FAILED;
  }
  world.say(`Wrote ${file}: keep it secret, it controls the coins.`);
  world.say(`Address ${wallet.address}`);
  return DONE;
}

function perform(
  context: CommandContext,
  action: Exclude<WalletAction, { readonly name: 'wallet new' }>,
): Promise<number> {
  switch (action.name) {
    case 'wallet balance':
      return balance(context);
    case 'wallet faucet':
      return faucet(context, action.ada);
    case 'launch':
      return launch(context, action);
    case 'buy':
      return buy(context, action);
    case 'sell':
      return sell(context, action);
    case 'cancel':
      return cancel(context, action);
    case 'lock':
      return lock(context, action);
    case 'withdraw':
      return withdraw(context, action.id);
  }
}
