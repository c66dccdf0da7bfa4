/** Mounts what the address names, one place at a time. */
import type { LiquidityPoolInfo } from '../client/types.ts';
import type { PageContext, Unmount } from './context.ts';
import { el } from './dom.ts';
import { mountHome } from './home/home.ts';
import type { MarketTime } from './now.ts';
import { hashOf, type Place } from './route.ts';
import type { Source } from './signal.ts';
import { closeTip } from './tip.ts';
import { mountReplayed } from './token/replayed.ts';
import { mountToken } from './token/token.ts';
import { mountLaunch } from './trade/launch.ts';
import { mountWallet } from './wallet/wallet.ts';

const TITLES = { home: 'Markets', token: 'Token', wallet: 'Wallet', launch: 'Launch' } as const;

export interface Sources {
  readonly asset: Source<string | null>;
  readonly pool: Source<LiquidityPoolInfo | null>;
  readonly time: MarketTime;
}

export class Places {
  readonly #main: HTMLElement;
  readonly #context: PageContext;
  readonly #sources: Sources;
  #shown: Place | null = null;
  #unmount: Unmount = () => {};
  #home: ReturnType<typeof mountHome> | null = null;

  constructor(main: HTMLElement, context: PageContext, sources: Sources) {
    this.#main = main;
    this.#context = context;
    this.#sources = sources;
  }

  show(place: Place): void {
    const before = this.#shown;
    if (before !== null && hashOf(before) === hashOf(place)) return;
    this.#shown = place;
    closeTip();
    // Another list stays the same place: its rows are filled anew, nothing is built.
    if (place.at === 'home' && this.#home !== null) {
      this.#home.list(place.list);
      return;
    }
    this.#unmount();
    this.#home = null;
    const container = el('div', { class: `place ${place.at}` });
    this.#main.replaceChildren(container);
    document.title = `${TITLES[place.at]} · upcurve`;
    this.#sources.asset.set(place.at === 'token' ? place.asset : null);
    this.#unmount = this.#mount(container, place);
    if (before === null) return;
    scrollTo(0, 0);
    this.#main.focus({ preventScroll: true });
  }

  #mount(container: HTMLElement, place: Place): Unmount {
    const context = this.#context;
    if (place.at === 'wallet') return mountWallet(container, context);
    if (place.at === 'launch') return mountLaunch(container, context);
    if (place.at === 'token') {
      return context.network.value?.name === 'none'
        ? mountReplayed(container, context, place.asset)
        : mountToken(container, context, place.asset, this.#sources);
    }
    this.#home = mountHome(container, context, this.#sources.time, place.list);
    return this.#home;
  }
}
