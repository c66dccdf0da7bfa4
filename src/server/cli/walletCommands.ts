/** The commands of a wallet: wallet, launch, buy, sell, cancel, lock and withdraw. */

import { readFileSync } from 'node:fs';
import { ApiError, Client, type Fetch } from '../../client/index.ts';
import { formatAda } from '../../client/trade/ada.ts';
import { pictureOf } from '../../client/trade/picture.ts';
import { TradingClient } from '../../client/trade/tradingClient.ts';
import { balanceOf } from '../../client/trade/utxo.ts';
import type { LockRow } from '../../client/types.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { counted } from '../../engine/runtime/counted.ts';
import { messageOf } from '../../engine/runtime/errors.ts';
import type { Json } from '../../engine/runtime/json.ts';
import { LAST_DATE_MS } from '../../engine/runtime/limits.ts';
import { amountText } from './amounts.ts';
import {
  assetOf,
  type CommandContext,
  DONE,
  FAILED,
  type Facts,
  MISUSED,
  waitForBlock,
  waitUntilListed,
  waitUntilLocked,
} from './commandContext.ts';
import type {
  LaunchAction,
  LockAction,
  WalletAction,
  WalletCommand,
} from './commands/walletCommand.ts';
import { buy, sell } from './orderCommands.ts';
import { createWallet, openWallet } from './walletFile.ts';

interface WalletCommandDeps {
  readonly clock: Clock;
  readonly fetch: Fetch;
  /** Ends all waiting. */
  readonly signal?: AbortSignal;
  /** `say` prints a line of the result, `complain` one about a problem. */
  say(line: string): void;
  complain(line: string): void;
  readonly confirm: CommandContext['confirm'];
}

/** A busy server names the time after which it is asked again. */
const MAX_ATTEMPTS = 4;
const NEVER = new AbortController().signal;

/**
 * Runs a wallet command: opens the key file, asks a running server, signs one transaction.
 * Exit code: 0 done, 1 refused or unreachable, 2 no usable wallet or file.
 */
export async function runWalletCommand(
  { action, client }: WalletCommand,
  deps: WalletCommandDeps,
): Promise<number> {
  if (!client.json) return runAction(action, client, deps);
  let told: Record<string, Json> = {};
  const code = await runAction(action, client, {
    ...deps,
    confirm: null,
    say: (_line, facts) => {
      told = { ...told, ...facts };
    },
    complain: (message) => {
      told = { ...told, error: message };
    },
  });
  deps.say(JSON.stringify(told));
  return code;
}

interface ActionDeps extends WalletCommandDeps {
  say(line: string, facts?: Facts): void;
}

async function runAction(
  action: WalletAction,
  options: WalletCommand['client'],
  appDeps: ActionDeps,
): Promise<number> {
  if (action.name === 'wallet new') return newWallet(options.walletFile, appDeps);
  const opened = openWallet(options.walletFile);
  if (typeof opened === 'string') {
    appDeps.complain(opened);
    return MISUSED;
  }
  if (opened.warning !== null) appDeps.complain(opened.warning);
  const { clock, fetch, signal = NEVER, say, complain, confirm } = appDeps;
  const client = new Client({ url: options.url, fetch, clock, maxAttempts: MAX_ATTEMPTS });
  const stop = () => client.close();
  signal.addEventListener('abort', stop);
  const trading = new TradingClient(client, opened.wallet);
  try {
    const { wait } = options;
    return await perform({ trading, clock, signal, wait, say, complain, confirm }, action);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const reason = error.reason === null ? '' : ` (${error.reason})`;
    complain(`${action.name}: ${error.cause}${reason}: ${error.message}`);
    return FAILED;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function newWallet(file: string, appDeps: ActionDeps): number {
  const wallet = createWallet(file);
  if (typeof wallet === 'string') {
    appDeps.complain(wallet);
    return FAILED;
  }
  appDeps.say(`Wrote ${file}: keep it secret, it controls the coins.`);
  appDeps.say(`Address ${wallet.address}`, { file, address: wallet.address });
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

async function balance(context: CommandContext): Promise<number> {
  const { wallet } = context.trading;
  const utxos = await context.trading.utxos();
  const { lovelace, assets } = balanceOf(utxos);
  context.say(`Address ${wallet.address}`, { address: wallet.address });
  context.say(`${formatAda(lovelace)} in ${counted(utxos.length, 'output')}`, {
    lovelace: String(lovelace),
    outputs: utxos.length,
    assets: Object.fromEntries([...assets].map(([asset, amount]) => [asset, String(amount)])),
  });
  for (const [asset, amount] of assets) context.say(`${amountText(asset, amount)}  ${asset}`);
  return DONE;
}

async function faucet(context: CommandContext, ada: number): Promise<number> {
  const { client, wallet } = context.trading;
  const { address } = wallet;
  const { txHash } = (await client.devnet.faucet({ address, ada })).data;
  context.say(`${ada} ADA are on their way to ${address}`, { address, ada });
  context.say(`Transaction ${txHash}`, { txHash });
  return waitForBlock(context, txHash);
}

async function launch(context: CommandContext, action: LaunchAction): Promise<number> {
  const image = imageOf(action);
  if (typeof image === 'string') {
    context.complain(image);
    return MISUSED;
  }
  const { tokenName, ticker, description, initialLovelace, isHyped, isAi, socials } = action;
  const launched = await context.trading.launch({
    ...socials,
    name: tokenName,
    ticker,
    description,
    assetType: isAi ? 'AI' : 'Meme',
    launchType: isHyped ? 'HYPED' : 'DEFAULT',
    initialLovelace,
    image,
  });
  const first =
    initialLovelace === 0n
      ? 'no initial buy'
      : `an initial buy of ${formatAda(initialLovelace)} for ${launched.userTokens} tokens`;
  const fee = formatAda(launched.feeLovelace);
  context.say(`Signed: launch ${tokenName} (${ticker}) with ${first}; network fee ${fee}`);
  const { asset, logoCid, txHash, userTokens, feeLovelace } = launched;
  const amounts = { tokens: String(userTokens), feeLovelace: String(feeLovelace) };
  context.say(`Token ${asset}`, { asset, ...amounts });
  context.say(`Logo ${logoCid}`, { logoCid });
  context.say(`Transaction ${txHash}`, { txHash });
  const settled = await waitForBlock(context, launched.txHash);
  // The wallet may show the block a moment before the market has applied it.
  return settled === DONE && context.wait ? waitUntilListed(context, launched.asset) : settled;
}

const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
};

function imageOf({ imageFile, tokenName, ticker }: LaunchAction): Blob | string {
  if (imageFile === null) return new Blob([pictureOf(tokenName + ticker)], { type: 'image/png' });
  const type = TYPES[imageFile.split('.').at(-1)?.toLowerCase() ?? ''];
  if (type === undefined) return '--image takes a file that ends in .png, .jpg or .gif';
  try {
    return new Blob([readFileSync(imageFile)], { type });
  } catch (error) {
    return `${imageFile} cannot be read: ${messageOf(error)}`;
  }
}

async function lock(context: CommandContext, action: LockAction): Promise<number> {
  const { tokens, stages, forMs, untilMs } = action;
  const asset = await assetOf(context, action.token);
  if (asset === null) return FAILED;
  const { data: time } = await context.trading.client.server.time();
  const lockEndMs = untilMs ?? time.timestamp + (forMs ?? 0);
  const done = await context.trading.lock({ assetId: asset, amount: tokens, lockEndMs, stages });
  const parts = stages === 1 ? '' : ` in ${stages} stages`;
  context.say(
    `Signed: lock ${amountText(asset, tokens)}${parts} until ${isoTime(lockEndMs)}; ` +
      `network fee ${formatAda(done.feeLovelace)}`,
    { asset, tokens: String(tokens), stages, lockEndMs },
  );
  sayTransaction(context, done);
  const settled = await waitForBlock(context, done.txHash);
  if (settled !== DONE || !context.wait) return settled;
  await waitUntilLocked(context, done.txHash);
  return listLocks(context);
}

async function withdraw(context: CommandContext, id: string | null): Promise<number> {
  if (id === null) return listLocks(context);
  const done = await context.trading.withdraw(id);
  context.say(`Signed: take lock ${id} back; network fee ${formatAda(done.feeLovelace)}`);
  sayTransaction(context, done);
  return waitForBlock(context, done.txHash);
}

function sayTransaction(
  { say }: CommandContext,
  { txHash, feeLovelace }: { readonly txHash: string; readonly feeLovelace: bigint },
): void {
  say(`Transaction ${txHash}`, { txHash, feeLovelace: String(feeLovelace) });
}

async function listLocks(context: CommandContext): Promise<number> {
  const locks = await context.trading.locks();
  if (locks.length === 0) context.say('No locks.', { locks: [] });
  for (const row of locks) {
    context.say(lockLine(row, context.clock.nowMs()), {
      locks: locks.map((lock) => ({ ...lock })),
    });
  }
  return DONE;
}

function lockLine(row: LockRow, nowMs: number): string {
  const asset = `${row.tokenPolicyId}.${row.tokenAssetName}`;
  const untilMs = Number(row.lockUntil);
  const state = untilMs <= nowMs ? 'open since' : 'until';
  const held = amountText(asset, BigInt(row.totalLocked));
  return `Lock ${row.id}  ${held}  ${state} ${isoTime(untilMs)}`;
}

function isoTime(timeMs: number): string {
  // The lock's maker chose the number, which need not be a date.
  return timeMs <= LAST_DATE_MS ? new Date(timeMs).toISOString() : 'the end of time';
}

type Act<Name> = Extract<WalletAction, { readonly name: Name }>;

async function cancel(context: CommandContext, { id }: Act<'cancel'>): Promise<number> {
  const done = await context.trading.cancel(id);
  context.say(`Signed: take order ${id} back; network fee ${formatAda(done.feeLovelace)}`);
  sayTransaction(context, done);
  return waitForBlock(context, done.txHash);
}
