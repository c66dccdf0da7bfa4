/**
 * Tickers that a component shows. Which they are is asked again and again while it is there; each
 * is live.
 */
import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Ticker, TickersAnswer, TickersQuery } from '../../client/types.ts';
import { cancelFrame, nextFrame } from '../frames.ts';
import { usePage } from '../page.tsx';

/** A list of the whole market, or some tokens in an order of one's own. */
export type Question = TickersQuery | readonly string[];

export interface Listed {
  /** null until it is there. */
  readonly listing: TickersAnswer | null;
  /** Set where there is nothing to show because of it. */
  readonly error: unknown;
}

const NOTHING: Listed = { listing: null, error: null };
const NONE: TickersAnswer = { count: 0, items: [] };
/** Questions whose answers are kept, for the reader who comes back. */
const MOST_KEPT = 32;

const kept = new Map<string, TickersAnswer>();

/**
 * What the question before had stays until this one is answered, so that nothing flickers; what
 * was answered once is there at once, and stays while the server is away.
 */
export function useTickers(question: Question, againMs: number): Listed {
  const { client, clock } = usePage();
  const key = JSON.stringify(question);
  const listed = useSignal<Listed>(NOTHING);
  useEffect(() => {
    const ended = new AbortController();
    const { signal } = ended;
    const answer = async (): Promise<TickersAnswer> => {
      if (!isAssets(question)) return (await client.tickers.list(question, { signal })).data;
      if (question.length === 0) return NONE;
      return (await client.tickers.ofAssets(question, { signal })).data;
    };
    const ask = async () => {
      try {
        // A hidden tab asks once it is seen again.
        if (!document.hidden) {
          const listing = unchangedKept(await answer(), kept.get(key) ?? listed.peek().listing);
          keep(key, listing);
          listed.value = { listing, error: null };
        }
      } catch (error) {
        if (signal.aborted) return;
        if (listed.peek().listing === null) listed.value = { listing: null, error };
      }
      if (!signal.aborted) timer = clock.after(againMs, ask);
    };
    let timer = clock.after(0, ask);
    return () => {
      timer.cancel();
      ended.abort();
    };
  }, [key]);
  // Read in any case: a component follows the signals that it has read.
  const newest = listed.value;
  const listing = kept.get(key) ?? newest.listing;
  const live = useLive(listing?.items ?? NONE.items);
  if (listing === null) return newest;
  const items = listing.items.map((ticker) => live.get(ticker.asset) ?? ticker);
  return { listing: { ...listing, items }, error: null };
}

/** By asset; those of the list before stay until those of this one are there. */
function useLive(items: readonly Ticker[]): ReadonlyMap<string, Ticker> {
  const { client } = usePage();
  const live = useSignal<readonly Ticker[]>([]);
  // In another order they are the same.
  const assets = items.map(({ asset }) => asset).sort();
  useEffect(() => {
    if (assets.length === 0) return;
    const mirror = client.tickers({ assets });
    const show = () => {
      live.value = mirror.state;
    };
    mirror.onChange(() => nextFrame(show));
    return () => {
      cancelFrame(show);
      mirror.close();
    };
  }, [assets.join()]);
  return useComputed(() => new Map(live.value.map((ticker) => [ticker.asset, ticker]))).value;
}

function isAssets(question: Question): question is readonly string[] {
  return Array.isArray(question);
}

function keep(key: string, listing: TickersAnswer): void {
  kept.delete(key);
  kept.set(key, listing);
  const [oldest] = kept.keys();
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
}

/** The same objects where nothing changed: their rows are not drawn again. */
function unchangedKept(now: TickersAnswer, before: TickersAnswer | null): TickersAnswer {
  const known = new Map<string, Ticker>(before?.items.map((each) => [each.asset, each]));
  const items = now.items.map((ticker) => {
    const old = known.get(ticker.asset);
    return old !== undefined && JSON.stringify(old) === JSON.stringify(ticker) ? old : ticker;
  });
  return { ...now, items };
}
