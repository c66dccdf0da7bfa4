/**
 * Who holds the token, the author's part, and what the pool has. Holders have no stream: they are
 * asked for again when the pool moved, not more often than every few seconds.
 */
import { ApiError } from '../../client/index.ts';
import type { HoldersAnswer, LiquidityPoolInfo } from '../../client/types.ts';
import type { Timer } from '../../runtime/clock.ts';
import type { PageContext, Unmount } from '../context.ts';
import { el, setAttribute, setText } from '../dom.ts';
import { failureOf } from '../failure.ts';
import { ends, grouped, percent, short } from '../format.ts';
import { KeyedList, type Row } from '../keyedList.ts';

const SHOWN = 10;
const PAUSE_MS = 3_000;

/** A line of the table; `share` is in tokens. */
interface Line {
  readonly key: string;
  readonly name: string;
  readonly title: string;
  readonly mark: string;
  readonly share: bigint;
}

export function mountHolders(container: HTMLElement, context: PageContext, asset: string): Unmount {
  const { client, clock, pool, network } = context;
  const count = el('span', { class: 'side' });
  const rows = el('ol', { class: 'holders', 'aria-label': 'Holders' });
  const note = el('div', {});
  container.append(el('header', {}, el('h2', {}, 'Holders'), count), rows, note);
  const list = new KeyedList<Line, Row<Line>>(rows, {
    most: SHOWN + 2,
    keyOf: ({ key }) => key,
    rowOf: () => holderRow(() => network.value?.supply ?? null),
  });
  const ended = new AbortController();
  let pause: Timer | null = null;
  let [isBusy, isWanted] = [false, true];

  /** One question at a time, with a pause behind it: answers cannot overtake each other. */
  const ask = async () => {
    [isBusy, isWanted] = [true, false];
    try {
      const query = { assetId: asset, limit: SHOWN };
      const { data } = await client.holders.list(query, { signal: ended.signal });
      if (ended.signal.aborted) return;
      list.show(linesOf(data, pool.value));
      setText(count, grouped(String(data.count)));
      note.replaceChildren();
    } catch (error) {
      // What is shown stays; without a server the page says so elsewhere.
      if (ended.signal.aborted) return;
      if (rows.childElementCount === 0) note.replaceChildren(failureOf(error));
      isWanted ||= error instanceof ApiError && error.isPassing;
    } finally {
      if (!ended.signal.aborted) pause = clock.after(PAUSE_MS, rested);
    }
  };
  const rested = () => {
    isBusy = false;
    if (isWanted) void ask();
  };
  const want = () => {
    isWanted = true;
    if (!isBusy) void ask();
  };
  const stop = pool.subscribe(want);
  want();
  return () => {
    stop();
    pause?.cancel();
    ended.abort();
  };
}

function linesOf({ holders, dev }: HoldersAnswer, pool: LiquidityPoolInfo | null): Line[] {
  const lines: Line[] = [];
  if (pool !== null) {
    const isAmm = pool.pool.cpmmPoolId !== null;
    const share = BigInt(pool.pool.y.amount);
    const title = isAmm ? 'Tokens in the AMM pool' : 'Tokens still on the curve';
    lines.push({ key: 'pool', name: isAmm ? 'AMM pool' : 'Curve', title, mark: 'pool', share });
  }
  const isListed = holders.some(({ address }) => address === dev.address);
  if (!isListed && dev.address !== '') {
    lines.push({ ...lineOf(dev.address, dev.quantity), mark: 'author', key: 'author' });
  }
  for (const { address, quantity } of holders) {
    const mark = address === dev.address ? 'author' : '';
    lines.push({ ...lineOf(address, quantity), mark });
  }
  return lines;
}

function lineOf(address: string, quantity: string) {
  return { key: address, name: ends(address, 8), title: address, share: BigInt(quantity) };
}

function holderRow(supply: () => bigint | null): Row<Line> {
  const name = el('span', { class: 'cut code' });
  const mark = el('span', { class: 'mark' });
  const amount = el('span', { class: 'num' });
  const part = el('span', { class: 'num dim' });
  const element = el('li', {}, el('span', { class: 'who' }, name, mark), amount, part);
  return {
    element,
    fill({ name: text, title, mark: word, share }) {
      setText(name, text);
      setText(mark, word);
      setAttribute(element, 'title', `${title}: ${grouped(String(share))} tokens`);
      setText(amount, short(share));
      const whole = supply();
      const filled = whole === null ? '' : `${percent(share, whole)}%`;
      setText(part, filled);
      element.style.setProperty('--depth', filled === '' ? '0%' : filled);
    },
  };
}
