/** The token: name, price, market cap, volume, and its id to copy. */
import type { LiquidityPoolInfo } from '../../client/types.ts';
import { formatPrice } from '../../engine/market/decimal.ts';
import type { PageContext, Unmount } from '../context.ts';
import { el, setAttribute, setText } from '../dom.ts';
import { ada, ends, shortPrice } from '../format.ts';
import { cancelFrame, flash, nextFrame } from '../frames.ts';
import { icon } from '../icons.ts';
import { logo } from '../logo.ts';
import { t } from '../messages.ts';
import { tokenLink } from '../route.ts';
import { onChange } from '../signal.ts';

export function mountHeader(container: HTMLElement, context: PageContext, asset: string): Unmount {
  const { pool, network } = context;
  const picture = logo();
  const name = el('h1', { class: 'cut', tabindex: '-1' }, ends(asset));
  const ticker = el('span', { class: 'ticker dim' });
  const venue = el('span', { class: 'mark' });
  const price = figure('Price');
  const cap = figure('Market cap');
  const volume = figure('Volume');
  const trades = figure('Trades');
  const who = el('div', { class: 'who' }, picture.element);
  who.append(
    el(
      'div',
      { class: 'names' },
      el('div', {}, name, ticker, venue),
      idButton(context, asset),
      linkButton(context, asset),
    ),
  );
  const figures = [price, cap, volume, trades].map(({ element }) => element);
  container.append(who, el('div', { class: 'figures' }, ...figures));
  let shown: LiquidityPoolInfo | null = null;
  const show = () => {
    const info = pool.value;
    if (info === null || info === shown) return;
    picture.show(info.info);
    setText(name, info.info.name);
    setText(ticker, info.info.ticker);
    setText(venue, info.pool.cpmmPoolId === null ? 'curve' : 'AMM');
    const supply = network.value?.supply ?? null;
    const spot = supply === null ? null : formatPrice(BigInt(info.metrics.marketCap), supply);
    price.element.hidden = spot === null;
    if (spot !== null) setText(price.value, `${shortPrice(spot)} ₳`);
    const isChanged = setText(cap.value, ada(info.metrics.marketCap));
    if (isChanged && shown !== null) {
      flash(cap.value, info.metrics.marketCap >= shown.metrics.marketCap ? 'up' : 'down');
    }
    setText(volume.value, ada(info.metrics.totalVolumeAda, 0));
    setText(trades.value, String(info.metrics.totalTxCount));
    document.title = `${info.info.name} · upcurve`;
    shown = info;
  };
  const again = () => {
    shown = null;
    nextFrame(show);
  };
  const stops = [onChange(pool, () => nextFrame(show)), onChange(network, again)];
  show();
  return () => {
    for (const stop of stops) stop();
    cancelFrame(show);
  };
}

function figure(label: string) {
  const value = el('span', { class: 'figure' });
  const element = el('div', { class: 'fig' }, el('span', { class: 'dim small' }, label), value);
  return { element, value };
}

function idButton(context: PageContext, asset: string): HTMLElement {
  const shown = el('span', {}, ends(asset, 10));
  return copyButton(context, [shown, icon('copy')], 'Copy the asset id', asset, 'Asset id copied.');
}

/** The address that unfolds in chats, not the one of this page. */
function linkButton(context: PageContext, asset: string): HTMLElement {
  const { copy, copied } = t.link;
  const link = new URL(tokenLink(asset), location.origin).href;
  return copyButton(context, [t.link.word, icon('copy')], copy, link, copied);
}

function copyButton(
  { notify }: PageContext,
  content: readonly (Node | string)[],
  label: string,
  text: string,
  done: string,
): HTMLElement {
  const button = el('button', { type: 'button', class: 'copy code dim' }, ...content);
  setAttribute(button, 'aria-label', label);
  button.title = text;
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text);
      notify('good', done);
    } catch {
      // A browser may refuse; then it can be copied by hand.
      notify('info', text);
    }
  });
  return button;
}
