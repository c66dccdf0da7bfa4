/** The numbers of one bar, exactly as the API says them. */
import type { CapBar, PriceBar } from '../../client/index.ts';
import { el } from '../dom.ts';
import { moment } from '../format.ts';

export function legendOf(bar: PriceBar | CapBar): readonly HTMLElement[] {
  const pair = (name: string, value: string, look = '') =>
    el('span', { class: look }, el('b', {}, name), value);
  const look = directionOf(bar);
  const volume = 'volume' in bar ? [pair('Vol', `${bar.volume} ₳`)] : [];
  return [
    pair('', moment(bar.time), 'dim'),
    pair('O', bar.open),
    pair('H', bar.high),
    pair('L', bar.low),
    pair('C', bar.close, look),
    ...volume,
    pair('Trades', String(bar.trades)),
    ...(bar.final ? [] : [pair('', 'open', 'dim')]),
  ];
}

/** Decimal strings compare by value: the longer whole part is the larger number. */
function directionOf({ open, close }: PriceBar | CapBar): '' | 'up' | 'down' {
  if (open === close) return '';
  const [openWhole = '', openRest = ''] = open.split('.');
  const [closeWhole = '', closeRest = ''] = close.split('.');
  if (openWhole.length !== closeWhole.length) {
    return closeWhole.length > openWhole.length ? 'up' : 'down';
  }
  return closeWhole + closeRest > openWhole + openRest ? 'up' : 'down';
}
