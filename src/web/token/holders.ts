/**
 * Holders of the token, the author's part, what the pool has, and locked tokens. Holders have no
 * topic: they are loaded again when the pool moved, at most every few seconds.
 */
import { ApiError } from '../../client/index.ts';
import type { HoldersAnswer, LiquidityPoolInfo, LockRow } from '../../client/types.ts';
import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import type { PageContext, Unmount } from '../context.ts';
import { el, setAttribute, setText } from '../dom.ts';
import { errorBox } from '../errorView.ts';
import { ends, grouped, moment, percent, short, shortMoment } from '../format.ts';
import { KeyedList, type Row } from '../keyedList.ts';
import type { MarketTime } from '../marketTime.ts';
import { onChange, watch } from '../signal.ts';
import { loadMoreStrip } from './loadMore.ts';

/** Holders at first, and how many more with each press. */
const FIRST = 10;
const MORE = 45;
/** The most that the API returns at once. */
const MOST = 100;
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
  const { client, pool, network } = context;
  const count = el('span', { class: 'side' });
  const rows = el('ol', { class: 'holders', 'aria-label': 'Holders', tabindex: '0' });
  const note = el('div', {});
  container.append(el('header', {}, el('h2', {}, 'Holders'), count), rows, note);
  const list = new KeyedList<Line, Row<Line>>(rows, {
    most: MOST + 2,
    keyOf: ({ key }) => key,
    rowOf: () => holderRow(() => network.value?.supply ?? null),
    arranged: () => more.arranged(),
  });
  const ended = new AbortController();
  let limit = FIRST;
  const answer = async (most: number) => {
    const query = { assetId: asset, limit: most };
    return (await client.holders.list(query, { signal: ended.signal })).data;
  };
  const more = loadMoreStrip(rows, context, {
    label: 'More holders',
    async load() {
      const next = Math.min(MOST, limit + MORE);
      const data = await answer(next);
      limit = next;
      show(data);
    },
  });
  const show = (data: HoldersAnswer) => {
    list.show(linesOf(data, pool.value));
    const [listed, all] = [data.holders.length, data.count].map((n) => grouped(String(n)));
    setText(count, all ?? '');
    more.show(`The largest ${listed} of ${all}`, data.holders.length < data.count && limit < MOST);
    note.replaceChildren();
  };
  const refresher = new Refresher(context.clock, async () => {
    try {
      const asked = limit;
      const data = await answer(asked);
      // More of them were asked for meanwhile, and are here already.
      if (asked === limit) show(data);
      return true;
    } catch (error) {
      // What is shown stays; without a server the page says so elsewhere.
      if (!ended.signal.aborted && rows.childElementCount === 0) {
        note.replaceChildren(errorBox(error));
      }
      return !(error instanceof ApiError && error.isPassing);
    }
  });
  const stop = onChange(pool, () => refresher.want());
  refresher.want();
  return () => {
    stop();
    refresher.close();
    list.close();
    ended.abort();
  };
}

/** One call at a time, with a pause after it: answers cannot overtake each other. */
class Refresher {
  readonly #clock: Clock;
  readonly #ask: () => Promise<boolean>;
  #pause: Timer | null = null;
  #isBusy = false;
  #isWanted = false;
  #isClosed = false;

  /** `ask` answers false where the same is to be asked again; it never throws. */
  constructor(clock: Clock, ask: () => Promise<boolean>) {
    this.#clock = clock;
    this.#ask = ask;
  }

  want(): void {
    this.#isWanted = true;
    if (!this.#isBusy) void this.#run();
  }

  close(): void {
    this.#isClosed = true;
    this.#pause?.cancel();
  }

  async #run(): Promise<void> {
    this.#isBusy = true;
    this.#isWanted = false;
    const isAnswered = await this.#ask();
    this.#isWanted ||= !isAnswered;
    if (this.#isClosed) return;
    this.#pause = this.#clock.after(PAUSE_MS, () => {
      this.#isBusy = false;
      if (this.#isWanted && !this.#isClosed) void this.#run();
    });
  }
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
      // Less than a hundredth would be a speck.
      const isSpeck = whole === null || share * 100n < whole;
      element.style.setProperty('--depth', isSpeck ? '0%' : filled);
    },
  };
}

const MAX_ROWS = 50;

interface LockLine extends Row<LockRow> {
  tick(lock: LockRow, nowSeconds: number): void;
}

/** Locked tokens, which cannot be sold before a time. They come with the pool. */
export function mountLocks(
  container: HTMLElement,
  { pool }: PageContext,
  time: MarketTime,
): Unmount {
  const total = el('span', { class: 'side' });
  const rows = el('ol', { class: 'locks', 'aria-label': 'Locks' });
  const none = el('p', { class: 'dim inside' }, 'Nothing of this token is locked.');
  container.append(el('header', {}, el('h2', {}, 'Locks'), total), rows, none);
  const list = new KeyedList<LockRow, LockLine>(rows, {
    most: MAX_ROWS,
    keyOf: ({ id }) => id,
    rowOf: () => lockLine(() => time.seconds.value),
  });
  const show = (info: LiquidityPoolInfo | null) => {
    const locks = (info?.metrics.locks ?? []).toSorted((a, b) => untilOf(a) - untilOf(b));
    const sum = locks.reduce((tokens, { totalLocked }) => tokens + BigInt(totalLocked), 0n);
    list.show(locks);
    none.hidden = locks.length > 0;
    setText(total, locks.length === 0 ? '' : `${short(sum)} tokens`);
  };
  const stopPool = watch(pool, show);
  const stopTime = onChange(time.seconds, (now) => list.each((row, lock) => row.tick(lock, now)));
  return () => {
    stopPool();
    stopTime();
    list.close();
  };
}

function untilOf({ lockUntil }: LockRow): number {
  return Number(lockUntil) / 1000;
}

function lockLine(nowSeconds: () => number): LockLine {
  const amount = el('span', {});
  const owner = el('span', { class: 'dim code cut' });
  const until = el('span', { class: 'num' });
  const element = el('li', {}, amount, owner, until);
  const tick = (lock: LockRow, now: number) => {
    const end = untilOf(lock);
    setText(until, end <= now ? 'may be withdrawn' : `until ${shortMoment(end)}`);
  };
  return {
    element,
    tick,
    fill(lock) {
      setText(amount, short(lock.totalLocked));
      amount.title = `${grouped(lock.totalLocked)} tokens`;
      // All addresses start alike; there is room for one end.
      setText(owner, `…${lock.vestingOwnerAddress.slice(-6)}`);
      owner.title = lock.vestingOwnerAddress;
      until.title = moment(untilOf(lock));
      tick(lock, nowSeconds());
    },
  };
}
