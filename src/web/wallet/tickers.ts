/** Tickers of tokens by asset id, asked for once each; until then the two ends of the id. */
import { type Signal, signal } from '@preact/signals';
import { MAX_NAMED_TOKENS } from '../../engine/runtime/limits.ts';
import type { PageContext } from '../context.ts';
import { ends } from '../format.ts';

const MOST = 2000;

class Tickers {
  /** Counts what was learned. */
  readonly learned: Signal<number> = signal(0);
  readonly #context: PageContext;
  readonly #known = new Map<string, string | null>();
  readonly #wanted = new Set<string>();
  #isAsking = false;

  constructor(context: PageContext) {
    this.#context = context;
  }

  of(asset: string): string {
    if (asset === '.') return 'ADA';
    const known = this.#known.get(asset);
    if (known === undefined && this.#known.size < MOST) {
      this.#known.set(asset, null);
      this.#wanted.add(asset);
      if (!this.#isAsking) void this.#ask();
    }
    return known ?? ends(asset.split('.')[0] ?? asset, 4);
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    // Every ticker that one rendering of the page needs, in one call.
    await Promise.resolve();
    const assets = Array.from(this.#wanted).slice(0, MAX_NAMED_TOKENS);
    this.#wanted.clear();
    try {
      const { data } = await this.#context.client.pools.followingList(assets);
      for (const { info } of data.items) this.#known.set(info.asset, info.ticker);
      this.learned.value = this.learned.value + 1;
    } catch {
      // The server is away: the next drawing asks again.
      for (const asset of assets) this.#known.delete(asset);
    } finally {
      this.#isAsking = false;
    }
    if (this.#wanted.size > 0) await this.#ask();
  }
}

const made = new WeakMap<PageContext['client'], Tickers>();

export function tickersOf(context: PageContext): Tickers {
  const known = made.get(context.client);
  if (known !== undefined) return known;
  const tickers = new Tickers(context);
  made.set(context.client, tickers);
  return tickers;
}
