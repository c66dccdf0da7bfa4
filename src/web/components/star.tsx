/** Puts a token on the watchlist, or takes it off. */
import { toggleWatched, watchlist } from '../home/market.ts';
import { t } from '../messages.ts';

export function Star({ asset, name }: { readonly asset: string; readonly name: string }) {
  const isWatched = watchlist.value.includes(asset);
  return (
    <button
      type="button"
      class="star"
      aria-pressed={isWatched}
      aria-label={t.home.watchOne({ name })}
      onClick={() => toggleWatched(asset)}
    >
      {isWatched ? '★' : '☆'}
    </button>
  );
}
