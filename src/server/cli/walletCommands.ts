/** The commands wallet, launch, lock and withdraw. */
import { readFileSync } from 'node:fs';
import { formatAda } from '../../client/trade/ada.ts';
import { pictureOf } from '../../client/trade/picture.ts';
import { balanceOf } from '../../client/trade/utxo.ts';
import type { LockRow } from '../../client/types.ts';
import {
  type CommandContext,
  DONE,
  MISUSED,
  waitForBlock,
  waitUntilListed,
  waitUntilLocked,
} from './commandContext.ts';
import { amountText } from './tradeCommands.ts';
import type { LaunchAction, LockAction } from './walletArguments.ts';

export async function balance(context: CommandContext): Promise<number> {
  const { wallet } = context.trading;
  const utxos = await context.trading.utxos();
  const { lovelace, assets } = balanceOf(utxos);
  context.say(`Address ${wallet.address}`);
  context.say(`${formatAda(lovelace)} in ${utxos.length} outputs`);
  for (const [asset, amount] of assets) context.say(`${amountText(asset, amount)}  ${asset}`);
  return DONE;
}

export async function faucet(context: CommandContext, ada: number): Promise<number> {
  const { client, wallet } = context.trading;
  const { address } = wallet;
  const { txHash } = (await client.devnet.faucet({ address, ada })).data;
  context.say(`${ada} ADA are on their way to ${address}`);
  context.say(`Transaction ${txHash}`);
  return waitForBlock(context, txHash);
}

export async function launch(context: CommandContext, action: LaunchAction): Promise<number> {
  const image = imageOf(action);
  if (typeof image === 'string') {
    context.complain(image);
    return MISUSED;
  }
  const { token, ticker, description, initialLovelace, isHyped, isAi, socials } = action;
  const launched = await context.trading.launch({
    ...socials,
    name: token,
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
  context.say(`Signed: launch ${token} (${ticker}) with ${first}; network fee ${fee}`);
  context.say(`Token ${launched.asset}`);
  context.say(`Logo ${launched.logoCid}`);
  context.say(`Transaction ${launched.txHash}`);
  const settled = await waitForBlock(context, launched.txHash);
  // The wallet may show the block a moment before the market has folded it.
  return settled === DONE && context.wait ? waitUntilListed(context, launched.asset) : settled;
}

const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
};

function imageOf({ imageFile, token, ticker }: LaunchAction): Blob | string {
  if (imageFile === null) return new Blob([pictureOf(token + ticker)], { type: 'image/png' });
  const type = TYPES[imageFile.split('.').at(-1)?.toLowerCase() ?? ''];
  if (type === undefined) return '--image takes a file that ends in .png, .jpg or .gif';
  try {
    return new Blob([readFileSync(imageFile)], { type });
  } catch (error) {
    return `${imageFile} cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

export async function lock(context: CommandContext, action: LockAction): Promise<number> {
  const { asset, tokens, stages, forMs, untilMs } = action;
  const { data: time } = await context.trading.client.server.time();
  const lockEndMs = untilMs ?? time.timestamp + (forMs ?? 0);
  const done = await context.trading.lock({ assetId: asset, amount: tokens, lockEndMs, stages });
  const parts = stages === 1 ? '' : ` in ${stages} stages`;
  context.say(
    `Signed: lock ${amountText(asset, tokens)}${parts} until ${isoTime(lockEndMs)}; ` +
      `network fee ${formatAda(done.feeLovelace)}`,
  );
  context.say(`Transaction ${done.txHash}`);
  const settled = await waitForBlock(context, done.txHash);
  if (settled !== DONE || !context.wait) return settled;
  await waitUntilLocked(context, done.txHash);
  return listLocks(context);
}

export async function withdraw(context: CommandContext, id: string | null): Promise<number> {
  if (id === null) return listLocks(context);
  const done = await context.trading.withdraw(id);
  context.say(`Signed: take lock ${id} back; network fee ${formatAda(done.feeLovelace)}`);
  context.say(`Transaction ${done.txHash}`);
  return waitForBlock(context, done.txHash);
}

async function listLocks(context: CommandContext): Promise<number> {
  const locks = await context.trading.locks();
  if (locks.length === 0) context.say('No locks.');
  for (const row of locks) context.say(lockLine(row, context.clock.nowMs()));
  return DONE;
}

function lockLine(row: LockRow, nowMs: number): string {
  const asset = `${row.tokenPolicyId}.${row.tokenAssetName}`;
  const untilMs = Number(row.lockUntil);
  const state = untilMs <= nowMs ? 'open since' : 'until';
  const held = amountText(asset, BigInt(row.totalLocked));
  return `Lock ${row.id}  ${held}  ${state} ${isoTime(untilMs)}`;
}

const LAST_DATE_MS = 8_640_000_000_000_000;

function isoTime(timeMs: number): string {
  // Whoever made the lock chose the number; it need not be a date.
  return timeMs <= LAST_DATE_MS ? new Date(timeMs).toISOString() : 'the end of time';
}
