/**
 * Tickers that a component shows, in order. A list of the whole market, and tokens by their ids,
 * are live, including membership and order. A list longer than 100 has no topic: the
 * page requests its members again and again, and each member is live.
 */
import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Client } from '../../client/index.ts';
import type { Ticker, TickersInput } from '../../client/types.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { MAX_LISTED_TICKERS } from '../../engine/runtime/limits.ts';
import { cancelFrame, nextFrame } from '../frames.ts';
import { keep, recall, showAged } from '../kept.ts';
import { trueAtMs, usePage } from '../page.tsx';
import { followedBy, isAssets, type Question } from './market.ts';

interface Listing {
  /** How many match; null where only the first of more are known. */
  readonly count: number | null;
  readonly items: readonly Ticker[];
}

interface Listed {
  /** null until it is there. */
  readonly listing: Listing | null;
  /** Set where there is nothing to show because of it. */
  readonly error: unknown;
}

interface Listener {
  show(listing: Listing): void;
  fail(error: unknown): void;
}

const NOTHING: Listed = { listing: null, error: null };
const NONE: Listing = { count: 0, items: [] };
const ASK_EVERY_MS = 3_000;
/**
 * The previous answer stays until this one arrives, so that nothing flickers; earlier answers show
 * at once, and stay while the server is away.
 */
export function useTickers(question: Question): Listed {
  const { client, clock, link } = usePage();
  const key = `tickers ${JSON.stringify(question)}`;
  const listed = useSignal<Listed>(NOTHING);
  const input = followedBy(question);
  useEffect(() => {
    const known = recall<Listing>(key);
    const endAge = known === null ? () => {} : showAged(known);
    if (known !== null) listed.value = { listing: known.value, error: null };
    let newest: Listing | null = null;
    const listener: Listener = {
      show(listing) {
        endAge();
        newest = listing;
        listed.value = { listing, error: null };
      },
      fail(error) {
        if (listed.peek().listing === null) listed.value = { listing: null, error };
      },
    };
    const close =
      input === null ? poll(client, clock, question, listener) : follow(client, input, listener);
    return () => {
      close();
      endAge();
      if (newest !== null) keep(key, newest, trueAtMs(link.peek(), clock.nowMs()));
    };
  }, [key]);
  const { listing, error } = listed.value;
  const live = useLive(input === null ? (listing?.items ?? NONE.items) : NONE.items);
  if (listing === null || live === null) return { listing, error };
  const items = listing.items.map((ticker) => live.get(ticker.asset) ?? ticker);
  return { listing: { ...listing, items }, error: null };
}

function follow(client: Client, input: TickersInput, { show, fail }: Listener): () => void {
  const { assets, limit = MAX_LISTED_TICKERS } = input;
  if (assets?.length === 0) {
    show(NONE);
    return () => {};
  }
  const mirror = client.tickers(input);
  const update = () => {
    const { state: items, isLoaded, error } = mirror;
    const isWhole = assets !== undefined || items.length < limit;
    if (isLoaded) show({ count: isWhole ? items.length : null, items });
    if (error !== null) fail(error);
  };
  const later = () => nextFrame(update);
  mirror.onChange(later);
  mirror.onError(later);
  return () => {
    cancelFrame(update);
    mirror.close();
  };
}

/** A hidden tab asks once it is seen again. */
function poll(client: Client, clock: Clock, question: Question, listener: Listener): () => void {
  const ended = new AbortController();
  const { signal } = ended;
  let known: ReadonlyMap<string, Ticker> = new Map();
  const ask = async () => {
    try {
      if (!document.hidden && !isAssets(question)) {
        const { data } = await client.tickers.list(question, { signal });
        const items = unchangedKept(data.items, known);
        known = byAsset(items);
        listener.show({ count: data.count, items });
      }
    } catch (error) {
      if (signal.aborted) return;
      listener.fail(error);
    }
    if (!signal.aborted) timer = clock.after(ASK_EVERY_MS, ask);
  };
  let timer = clock.after(0, ask);
  return () => {
    timer.cancel();
    ended.abort();
  };
}

/** By asset; the rows of the previous list stay until this list's rows arrive. null: no list. */
function useLive(items: readonly Ticker[]): ReadonlyMap<string, Ticker> | null {
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
  const known = useComputed(() => byAsset(live.value)).value;
  return assets.length === 0 ? null : known;
}

function byAsset(items: readonly Ticker[]): ReadonlyMap<string, Ticker> {
  return new Map(items.map((ticker) => [ticker.asset, ticker]));
}

/** The same objects where nothing changed: their rows are not drawn again. */
function unchangedKept(
  items: readonly Ticker[],
  known: ReadonlyMap<string, Ticker>,
): readonly Ticker[] {
  return items.map((ticker) => {
    const old = known.get(ticker.asset);
    return old !== undefined && JSON.stringify(old) === JSON.stringify(ticker) ? old : ticker;
  });
}
