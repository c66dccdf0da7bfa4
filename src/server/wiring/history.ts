/**
 * The recorded past that a new devnet of this process begins with. Its blocks are of one market, so
 * the market gets the keys of the recording, which everybody knows. A market with other keys, slots
 * or terms begins without a past.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { holdsChain } from '../../devnet/chainFile.ts';
import { HISTORY_FILE, type RecordedHistory, readHistory, sumOf } from '../../devnet/history.ts';
import { parseSecrets, readSecrets, SECRET_NAMES, writeSecrets } from '../settings/secrets.ts';
import type { AppDeps } from './appDeps.ts';
import { chainFileOf, chainUrls, makeLaunchpad } from './devnet.ts';

type HistoryDeps = Pick<AppDeps, 'settings' | 'devnet' | 'rng'>;

/** The file of the past, where one fits: DATA_DIR has its keys and logos then. null: none does. */
export function fittingHistory(deps: HistoryDeps): string | null {
  const { settings, rng } = deps;
  if (!mayHavePast(deps)) return null;
  const history = readHistory(HISTORY_FILE);
  const { DATA_DIR, BLOCK_EVERY_MS } = settings;
  if (BLOCK_EVERY_MS !== history.slotMs || !isOfMarket(deps, history)) return null;
  writeSecrets(DATA_DIR, rng, history.keys);
  const secrets = readSecrets(DATA_DIR, rng);
  const isOther = SECRET_NAMES.some((name) => secrets[name].reveal() !== history.keys[name]);
  if (isOther) return null;
  placeLogos(join(DATA_DIR, 'images'), history);
  return HISTORY_FILE;
}

function mayHavePast({ settings, devnet }: HistoryDeps): boolean {
  const { NETWORK, KEYS_FILE } = settings;
  const isOwn = NETWORK === 'devnet' && chainUrls(settings) === null;
  if (devnet?.beginsWithPast !== true || !isOwn || KEYS_FILE !== undefined) return false;
  const isThere = existsSync(HISTORY_FILE) && existsSync(`${HISTORY_FILE}.sha256`);
  return isThere && !holdsChain(chainFileOf(settings));
}

function isOfMarket({ settings, devnet }: HistoryDeps, { keys, made }: RecordedHistory): boolean {
  if (devnet === undefined) return false;
  const secrets = parseSecrets(JSON.stringify(keys));
  const launchpad = makeLaunchpad(secrets, devnet.traders, settings.ORDER_REFUND_AFTER_MS);
  return sumOf(launchpad) === made.genesis;
}

function placeLogos(folder: string, { pictures }: RecordedHistory): void {
  mkdirSync(folder, { recursive: true });
  for (const [cid, base64] of Object.entries(pictures)) {
    writeFileSync(join(folder, cid), Buffer.from(base64, 'base64'));
  }
}
