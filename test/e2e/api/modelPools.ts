/** LiquidityPoolInfo of every token, the lists, search; each computed from all pools every time. */
import assert from 'node:assert/strict';
import { formatAddress, parseAddress } from '../../../src/cardano/codec/address.ts';
import { datumOf, parseRef } from '../../../src/cardano/codec/output.ts';
import { readLockData } from '../../../src/cardano/datums/datums.ts';
import { halfUp, type Ratio, sum } from './exact.ts';
import type { Launch, ModelChain, PoolStep } from './modelChain.ts';
import { capOf, spotOf } from './modelVenue.ts';

export const LISTS = ['New', 'Latest', 'CompletedCreateOn', 'CompletedMCap', 'MCapDesc'] as const;
type ListName = (typeof LISTS)[number];

export function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}

export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

export interface LockRow {
  readonly id: string;
  readonly lockUntil: string;
  readonly redeemerVkh: string;
  readonly tokenPolicyId: string;
  readonly tokenAssetName: string;
  readonly totalLocked: string;
  readonly vestingOwnerAddress: string;
  readonly spent: false;
}

/** Unspent locks, by id. */
export function locksOf(chain: ModelChain): LockRow[] {
  const found = [...chain.outputs.values()].flatMap(({ ref, output, spent }): LockRow[] => {
    if (spent !== null || chain.scriptOf(output.address) !== 'vesting') return [];
    const datum = readLockData(datumOf(output));
    const [[unit, amount] = []] = output.value.assets;
    const address = parseAddress(output.address);
    if (datum === null || unit === undefined || address === null) return [];
    const [policy = '', name = ''] = unit.split('.');
    const payment = { kind: 'key', hash: datum.owner } as const;
    return [
      {
        id: ref,
        lockUntil: String(datum.unlockMs),
        redeemerVkh: datum.owner,
        tokenPolicyId: policy,
        tokenAssetName: name,
        totalLocked: String(amount),
        vestingOwnerAddress: formatAddress({ ...address, payment }),
        spent: false,
      },
    ];
  });
  return found.sort((a, b) => compareTexts(a.id, b.id));
}

export class ModelPools {
  readonly #chain: ModelChain;
  /** The token on top after each block; asked for often, so kept. */
  #tops: (string | undefined)[] | null = null;

  constructor(chain: ModelChain) {
    this.#chain = chain;
  }

  launch(token: string): Launch | undefined {
    return this.#chain.launches.find((launch) => launch.token === token);
  }

  now(token: string): PoolStep {
    return this.#chain.poolAt(token, Number.MAX_SAFE_INTEGER) ?? assert.fail(token);
  }

  spot(token: string): Ratio {
    return spotOf(this.#chain.deployment, this.now(token));
  }

  /** Tokens that have a pool after the block, the highest market cap first. */
  #ranked(height: number): string[] {
    const { launches, deployment } = this.#chain;
    return launches
      .flatMap(({ token }) => {
        const step = this.#chain.poolAt(token, height);
        if (step === undefined) return [];
        return [{ token, cap: halfUp(capOf(spotOf(deployment, step))) }];
      })
      .sort((a, b) => Number(b.cap - a.cap) || compareTexts(a.token, b.token))
      .map(({ token }) => token);
  }

  koth(): string | null {
    return this.#ranked(Number.MAX_SAFE_INTEGER)[0] ?? null;
  }

  /** Seconds of the first block after which it was on top. */
  crowned(token: string): number | null {
    const { blocks } = this.#chain;
    this.#tops ??= blocks.map(({ height }) => this.#ranked(height)[0]);
    const first = blocks[this.#tops.indexOf(token)];
    return first === undefined ? null : seconds(first.timeMs);
  }

  info(token: string) {
    const { metadata, ref } = this.launch(token) ?? assert.fail(token);
    const { ticker, logoCID, description, launchType, author, socials } = metadata;
    const named = (text: string) => (text === '' ? null : text);
    return {
      asset: token,
      name: Buffer.from(token.split('.')[1] ?? '', 'hex').toString('utf8'),
      ticker,
      logoCID,
      description,
      launchType,
      poolAuthor: author,
      socials: {
        twitter: named(socials.twitter),
        telegram: named(socials.telegram),
        discord: named(socials.discord),
        website: named(socials.website),
      },
      outputId: ref,
      assetType: 'Meme',
    };
  }

  pool(token: string) {
    const { deployment, trades } = this.#chain;
    const launch = this.launch(token) ?? assert.fail(token);
    const now = this.now(token);
    const { txHash, index } = parseRef(now.ref) ?? assert.fail();
    const own = trades.filter((trade) => trade.token === token);
    const { skh, pkh } = launch.metadata.author;
    return {
      pool: {
        id: launch.nft,
        x: { asset: '.', amount: String(now.x) },
        y: { asset: token, amount: String(now.y) },
        outputId: { transactionId: txHash, transactionIndex: index },
        aNum: Number(deployment.curve.aNum),
        bNum: Number(deployment.curve.bNum),
        adaCapThreshold: Number(deployment.thresholdLovelace),
        poolAuthor: skh === '' ? pkh : skh,
        launchType: '',
        createdOn: seconds(launch.made.timeMs),
        permittedExecutor: launch.executor,
        cpmmPoolId: now.venue === 'AMM' ? launch.nft : null,
        version: 'v1',
        timestamp: seconds(now.made.timeMs),
      },
      metrics: {
        marketCap: Number(halfUp(capOf(this.spot(token)))),
        totalVolumeAda: Number(sum(own.map(({ lovelace }) => lovelace))),
        totalTxCount: own.length,
        crowned: this.crowned(token),
        sequentialOrderingEnabled: false,
        since: null,
        locks: locksOf(this.#chain).filter(
          ({ tokenPolicyId, tokenAssetName }) => `${tokenPolicyId}.${tokenAssetName}` === token,
        ),
      },
      info: this.info(token),
    };
  }

  /** All tokens of a list, in its order. */
  list(name: ListName): string[] {
    const byCap = this.#ranked(Number.MAX_SAFE_INTEGER);
    const isDone = (token: string) => this.now(token).venue === 'AMM';
    if (name === 'MCapDesc') return byCap.filter((token) => !isDone(token));
    if (name === 'CompletedMCap') return byCap.filter(isDone);
    const launched = (token: string) => this.launch(token)?.made.timeMs ?? 0;
    const lastTrade = (token: string) =>
      this.#chain.trades.findLast((trade) => trade.token === token)?.at.timeMs ?? launched(token);
    const key = name === 'Latest' ? lastTrade : launched;
    const all = name === 'CompletedCreateOn' ? byCap.filter(isDone) : byCap;
    return all.toSorted((a, b) => seconds(key(b)) - seconds(key(a)) || compareTexts(a, b));
  }

  search(pattern: string): string[] {
    const wanted = pattern.trim().toLowerCase();
    const rank = (token: string) => {
      const { name, ticker } = this.info(token);
      return Math.min(
        ...[name, ticker, token].map((text) => {
          const found = text.toLowerCase();
          if (found === wanted) return 0;
          if (found.startsWith(wanted)) return 1;
          return found.includes(wanted) ? 2 : 3;
        }),
      );
    };
    // The sort keeps the order by market cap among equals.
    const byCap = this.#ranked(Number.MAX_SAFE_INTEGER);
    return byCap.filter((token) => rank(token) < 3).sort((a, b) => rank(a) - rank(b));
  }

  /** In the order asked, duplicates at their first place. */
  following(tokens: readonly string[]): string[] {
    return [...new Set(tokens)].filter((token) => this.launch(token) !== undefined);
  }

  progress(token: string): { percent: string } {
    const { x, venue } = this.now(token);
    const { thresholdLovelace } = this.#chain.deployment;
    if (venue === 'AMM' || x >= thresholdLovelace) return { percent: '100' };
    const hundredths = String((x * 10_000n) / thresholdLovelace).padStart(3, '0');
    const text = `${hundredths.slice(0, -2)}.${hundredths.slice(-2)}`;
    return { percent: text.replace(/\.?0+$/, '') };
  }
}
