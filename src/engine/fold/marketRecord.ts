/**
 * The market that a data directory belongs to, in its file `market.json`. It stays when the state
 * is rebuilt or removed, so that any remaining file identifies the directory.
 *
 * Never: replaces what is there; a directory that is to hold another market must be emptied.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../runtime/assert.ts';
import {
  describeMarket,
  describeOrigin,
  identityOf,
  isDamagedCopy,
  isOtherMarket,
  type MarketIdentity,
  type MarketOrigin,
  marketText,
  parseMarket,
} from '../runtime/marketIdentity.ts';

const FILE = 'market.json';

/** null: the directory has no record, because it is new or of an older version. */
export function readMarket(directory: string): MarketIdentity | null {
  const path = join(directory, FILE);
  if (!existsSync(path)) return null;
  const market = parseMarket(readFileSync(path, 'utf8'));
  if (market !== null) return market;
  throw new Error(
    `${path} is damaged: restore it from a backup, or remove it if you know that this directory ` +
      'belongs to the market of your settings',
  );
}

export class MarketRecord {
  readonly #directory: string;
  /** null: a market without a chain, which has no identity. */
  readonly #origin: MarketOrigin | null;
  #known: MarketIdentity | null;

  /** Throws `otherMarket` where the directory is of another network or deployment. */
  constructor(directory: string, origin: MarketOrigin | null) {
    this.#directory = directory;
    this.#origin = origin;
    this.#known = readMarket(directory);
    if (this.#known !== null) this.#compareOrigin(this.#known, `DATA_DIR ${directory}`);
  }

  get directory(): string {
    return this.#directory;
  }

  get known(): MarketIdentity | null {
    return this.#known;
  }

  /**
   * Throws `otherMarket` where `there` is not the market of this directory and these settings.
   * `inState` is the market in the state, if the directory has no record.
   */
  compare(there: MarketIdentity, what: string, inState?: MarketIdentity): void {
    const own = this.#known ?? inState ?? null;
    if (own !== null && isOtherMarket(own, there)) {
      throw new Fault(
        'otherMarket',
        `DATA_DIR ${this.#directory} holds ${describeMarket(own, there)}, but ${what} belongs to ` +
          `${describeMarket(there, own)}. Nothing was changed. ${advice(own, there)}`,
      );
    }
    this.#compareOrigin(there, what);
  }

  /** Records what was read; `compare` first. */
  write(market: MarketIdentity): void {
    if (this.#known !== null) return;
    const path = join(this.#directory, FILE);
    const part = `${path}.part`;
    writeFileSync(part, `${marketText(market)}\n`);
    renameSync(part, path);
    this.#known = market;
  }

  /** The identity to write; a market that has none yet gets one. null: it has no chain. */
  identity(first: string): MarketIdentity | null {
    return this.#known ?? (this.#origin === null ? null : identityOf(this.#origin, first));
  }

  #compareOrigin(there: MarketIdentity, what: string): void {
    const own = this.#origin;
    if (own === null) return;
    const isDeployed = own.deployment === null || own.deployment === there.deployment;
    if (own.network === there.network && isDeployed) return;
    throw new Fault(
      'otherMarket',
      `${what} belongs to ${describeMarket(there, own)}, but the settings of this node are for ` +
        `${describeOrigin(own, there)}. Nothing was changed. ${adviceFor(own, there)}`,
    );
  }
}

function advice(own: MarketIdentity, there: MarketIdentity): string {
  if (isDamagedCopy(own, there)) {
    const why = 'Ids of two markets never begin alike, so one of the two was damaged';
    return `${why}: restore it from a backup`;
  }
  return (
    'Set DATA_DIR to a directory of that market or to an empty one, or set MARKET_NAME or ' +
    'NATS_URL to those of this market'
  );
}

function adviceFor(own: MarketOrigin, there: MarketOrigin): string {
  const elsewhere = 'or set DATA_DIR to an empty directory and MARKET_NAME to a name of its own';
  if (own.network !== there.network) return `Correct NETWORK, ${elsewhere}`;
  const setting = own.network === 'devnet' ? 'KEYS_FILE' : 'DEPLOYMENT_FILE';
  return `Correct ${setting}, ${elsewhere}`;
}
