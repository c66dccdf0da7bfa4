/** The commands wallet, launch, lock and withdraw. */
import { readFileSync } from 'node:fs';
import { formatAda } from '../../client/trade/ada.ts';
import { pictureOf } from '../../client/trade/picture.ts';
import { balanceOf } from '../../client/trade/utxo.ts';
import type { LockRow } from '../../client/types.ts';
import type { LaunchAction, LockAction } from './marketArguments.ts';
import { amountText } from './trading.ts';
import { DONE, MISUSED, settle, untilListed, untilLocked, type Visit } from './visit.ts';

export async function balance(visit: Visit): Promise<number> {
  const { wallet } = visit.trading;
  const utxos = await visit.trading.utxos();
  const { lovelace, assets } = balanceOf(utxos);
  visit.say(`Address ${wallet.address}`);
  visit.say(`${formatAda(lovelace)} in ${utxos.length} outputs`);
  for (const [asset, amount] of assets) visit.say(`${amountText(asset, amount)}  ${asset}`);
  return DONE;
}

export async function faucet(visit: Visit, ada: number): Promise<number> {
  const { client, wallet } = visit.trading;
  const { address } = wallet;
  const { txHash } = (await client.devnet.faucet({ address, ada })).data;
  visit.say(`${ada} ADA are on their way to ${address}`);
  visit.say(`Transaction ${txHash}`);
  return settle(visit, txHash);
}

export async function launch(visit: Visit, action: LaunchAction): Promise<number> {
  const image = imageOf(action);
  if (typeof image === 'string') {
    visit.complain(image);
    return MISUSED;
  }
  const { token, ticker, description, initialLovelace, isHyped, isAi, socials } = action;
  const launched = await visit.trading.launch({
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
  visit.say(`Signed: launch ${token} (${ticker}) with ${first}; network fee ${fee}`);
  visit.say(`Token ${launched.asset}`);
  visit.say(`Logo ${launched.logoCid}`);
  visit.say(`Transaction ${launched.txHash}`);
  const settled = await settle(visit, launched.txHash);
  // The wallet may show the block a moment before the market has folded it.
  return settled === DONE && visit.wait ? untilListed(visit, launched.asset) : settled;
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

export async function lock(visit: Visit, action: LockAction): Promise<number> {
  const { asset, tokens, stages, forMs, untilMs } = action;
  const { data: time } = await visit.trading.client.server.time();
  const lockEndMs = untilMs ?? time.timestamp + (forMs ?? 0);
  const done = await visit.trading.lock({ assetId: asset, amount: tokens, lockEndMs, stages });
  const parts = stages === 1 ? '' : ` in ${stages} stages`;
  visit.say(
    `Signed: lock ${amountText(asset, tokens)}${parts} until ${isoTime(lockEndMs)}; ` +
      `network fee ${formatAda(done.feeLovelace)}`,
  );
  visit.say(`Transaction ${done.txHash}`);
  const settled = await settle(visit, done.txHash);
  if (settled !== DONE || !visit.wait) return settled;
  await untilLocked(visit, done.txHash);
  return listLocks(visit);
}

export async function withdraw(visit: Visit, id: string | null): Promise<number> {
  if (id === null) return listLocks(visit);
  const done = await visit.trading.withdraw(id);
  visit.say(`Signed: take lock ${id} back; network fee ${formatAda(done.feeLovelace)}`);
  visit.say(`Transaction ${done.txHash}`);
  return settle(visit, done.txHash);
}

async function listLocks(visit: Visit): Promise<number> {
  const locks = await visit.trading.locks();
  if (locks.length === 0) visit.say('No locks.');
  for (const row of locks) visit.say(lockLine(row, visit.clock.nowMs()));
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
