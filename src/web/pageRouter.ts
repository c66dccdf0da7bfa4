/** Mounts the page that the address names. */
import type { Signal } from '@preact/signals';
import { h } from 'preact';
import type { PageContext, Unmount } from './context.ts';
import { el } from './dom.ts';
import { Home } from './home/home.tsx';
import { t } from './messages.ts';
import { mountView } from './page.tsx';
import { type PageRoute, routeHash } from './route.ts';
import { ChartOnly } from './token/chart.tsx';
import { MissingToken } from './token/missing.tsx';
import { Token } from './token/token.tsx';
import { closeTooltip } from './tooltip.ts';
import { mountLaunch } from './trade/launch.ts';
import { mountWallet } from './wallet/wallet.ts';

const TITLES = {
  home: 'Markets',
  token: 'Token',
  missing: t.missing.title,
  wallet: 'Wallet',
  launch: 'Launch',
} as const;

export class PageRouter {
  readonly #main: HTMLElement;
  readonly #context: PageContext;
  readonly #asset: Signal<string | null>;
  #shown: PageRoute | null = null;
  #unmount: Unmount = () => {};

  constructor(main: HTMLElement, context: PageContext, asset: Signal<string | null>) {
    this.#main = main;
    this.#context = context;
    this.#asset = asset;
  }

  show(route: PageRoute): void {
    const before = this.#shown;
    if (before !== null && routeHash(before) === routeHash(route)) return;
    this.#shown = route;
    closeTooltip();
    // Another list is the same page, which follows the address by itself.
    if (before?.at === 'home' && route.at === 'home') return;
    this.#unmount();
    const container = el('div', { class: `place ${route.at}` });
    this.#main.replaceChildren(container);
    document.title = `${TITLES[route.at]} · upcurve`;
    this.#asset.value = route.at === 'token' ? route.asset : null;
    this.#unmount = this.#mount(container, route);
    if (before === null) return;
    scrollTo(0, 0);
    this.#main.focus({ preventScroll: true });
  }

  #mount(container: HTMLElement, route: PageRoute): Unmount {
    const context = this.#context;
    if (route.at === 'wallet') return mountWallet(container, context);
    if (route.at === 'launch') return mountLaunch(container, context);
    if (route.at === 'missing') {
      return mountView(container, context, h(MissingToken, { text: route.text }));
    }
    if (route.at === 'token') {
      const view = context.network.value?.name === 'none' ? ChartOnly : Token;
      return mountView(container, context, h(view, { asset: route.asset }));
    }
    return mountView(container, context, h(Home, {}));
  }
}
