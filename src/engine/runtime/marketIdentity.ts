/**
 * Which market a directory, a log, a snapshot or a node belongs to. The id is a hash of the
 * network, the deployment and the first entry of the log, so two markets never share it.
 *
 * It is written into every epoch entry, checkpoint, announcement and lease. Data of an older
 * version has no identity; the first leader of this version adds it to its first entry.
 */
import { hash } from 'node:crypto';

/** The settings' part of a market's identity, before its log is read. */
export interface MarketOrigin {
  readonly network: string;
  /**
   * Hash of what identifies the contracts: script hashes, on a devnet the key hashes. null: this
   * node does not know them.
   */
  readonly deployment: string | null;
}

export interface MarketIdentity {
  readonly network: string;
  readonly deployment: string;
  /** 64 hex digits. */
  readonly id: string;
}

const SHOWN = 12;

/**
 * `first` is the hash of the log's first entry, or the name of the oldest epoch that is known.
 * null: the deployment is not known here.
 */
export function identityOf(
  { network, deployment }: MarketOrigin,
  first: string,
): MarketIdentity | null {
  if (deployment === null) return null;
  const id = hash('sha256', `${network}\n${deployment}\n${first}`, 'hex');
  return { id, network, deployment };
}

/** True where both are known and differ. */
export function isOtherMarket(
  one: MarketIdentity | null | undefined,
  other: MarketIdentity | null | undefined,
): boolean {
  return one != null && other != null && one.id !== other.id;
}

/**
 * For a message: `market 0123456789ab (devnet, deployment 0123456789ab)`. `beside` is named in
 * the same message: where both begin alike, all digits are shown.
 */
export function describeMarket(
  market: MarketIdentity,
  beside?: MarketOrigin & { readonly id?: string },
): string {
  const id = shownOf(market.id, beside?.id ?? null);
  return `market ${id} (${describeOrigin(market, beside)})`;
}

export function describeOrigin(
  { network, deployment }: MarketOrigin,
  beside?: MarketOrigin,
): string {
  if (deployment === null) return network;
  return `${network}, deployment ${shownOf(deployment, beside?.deployment ?? null)}`;
}

/** All digits if both ids begin alike, else the first. */
function shownOf(digits: string, beside: string | null): string {
  const isAlike = beside !== digits && beside?.slice(0, SHOWN) === digits.slice(0, SHOWN);
  return isAlike ? digits : digits.slice(0, SHOWN);
}

/** They differ, and begin alike, as hashes of two markets never do: so one is damaged. */
export function isDamagedCopy(one: MarketIdentity, other: MarketIdentity): boolean {
  return one.id !== other.id && one.id.slice(0, SHOWN) === other.id.slice(0, SHOWN);
}

/** One line of text that `parseMarket` reads back. */
export function marketText({ id, network, deployment }: MarketIdentity): string {
  return JSON.stringify({ id, network, deployment });
}

/** null: the text does not describe a market. */
export function parseMarket(text: string): MarketIdentity | null {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    // It is no JSON.
    return null;
  }
  if (typeof found !== 'object' || found === null) return null;
  if (!('id' in found && 'network' in found && 'deployment' in found)) return null;
  const { id, network, deployment } = found;
  const isRight = typeof id === 'string' && /^[0-9a-f]{64}$/.test(id);
  if (!isRight || typeof network !== 'string' || typeof deployment !== 'string') return null;
  return { id, network, deployment };
}
