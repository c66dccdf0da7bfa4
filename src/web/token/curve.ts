/** How far the curve is filled, and what happens when it is full. */
import type { LiquidityPoolInfo } from '../../client/types.ts';
import type { PageContext, Unmount } from '../context.ts';
import { el, setAttribute, setText } from '../dom.ts';
import { ada } from '../format.ts';
import { cancelFrame, nextFrame } from '../frames.ts';
import { progressOf } from '../home/poolRow.ts';

const ON_THE_CURVE =
  'At 100% the curve closes and the token graduates: all its coins and the tokens that are ' +
  'left move into an AMM pool, which trades on at the same price. Open orders are filled there.';
const FULL =
  'The curve is full. Its coins and tokens are on their way into the AMM pool; until that is in ' +
  'a block, orders stay open.';
const GRADUATED =
  'This token has graduated: it is traded in an AMM pool. The curve is closed for good.';

export function mountCurve(container: HTMLElement, { pool }: PageContext): Unmount {
  const side = el('span', { class: 'side' });
  const fill = el('span');
  const bar = el('div', { class: 'meter tall', role: 'progressbar', 'aria-label': 'Curve' }, fill);
  setAttribute(bar, 'aria-valuemin', '0');
  setAttribute(bar, 'aria-valuemax', '100');
  const line = el('p', { class: 'curve-line' });
  const words = el('p', { class: 'dim small' });
  const inside = el('div', { class: 'inside stack' }, bar, line, words);
  container.append(el('header', {}, el('h2', {}, 'Graduation'), side), inside);
  const show = () => {
    if (pool.value !== null) write(pool.value);
  };
  const write = (info: LiquidityPoolInfo) => {
    const filled = progressOf(info);
    const { x, adaCapThreshold, cpmmPoolId } = info.pool;
    setText(side, `${filled}%`);
    bar.style.setProperty('--filled', `${filled}%`);
    setAttribute(bar, 'aria-valuenow', filled);
    const cap = ada(adaCapThreshold, 0);
    const isOver = cpmmPoolId !== null;
    setText(line, isOver ? `AMM pool with ${ada(x.amount, 0)}` : `${ada(x.amount)} of ${cap}`);
    setText(words, isOver ? GRADUATED : filled === '100' ? FULL : ON_THE_CURVE);
  };
  const stop = pool.subscribe(() => nextFrame(show));
  show();
  return () => {
    stop();
    cancelFrame(show);
  };
}
