/** The wallet's locks, the next to open first, with a countdown, and taking back what is open. */
import type { LockRow } from '../../client/types.ts';
import type { PageContext, Unmount } from '../context.ts';
import { el, setText } from '../dom.ts';
import { errorBox, errorText } from '../errorView.ts';
import { moment } from '../format.ts';
import { routeHash } from '../route.ts';
import { onChange } from '../signal.ts';
import { shownAmount } from '../trade/amount.ts';
import { button } from '../trade/button.ts';
import { whatYouSign } from '../trade/confirmOrder.ts';
import { ask, navigationNow } from '../trade/dialog.ts';
import { sessionOf } from './session.ts';
import { tickersOf } from './tickers.ts';

const TICK_MS = 1_000;
/** Locks made elsewhere with the same key show up without a click. */
const LOAD_EVERY_MS = 15_000;
const MAX_ROWS = 200;
/** A lock opens with the first slot that begins after its moment. */
const SLOT_MS = 1_000;

export function mountOwnLocks(container: HTMLElement, context: PageContext): Unmount {
  const view = new OwnLocks(context);
  container.append(view.element);
  return () => view.close();
}

class OwnLocks {
  readonly element: HTMLElement;
  readonly #context: PageContext;
  readonly #list = el('ul', { class: 'own-locks' });
  readonly #note = el('p', { class: 'small dim own-note' });
  readonly #failure = el('div');
  readonly #stops: readonly Unmount[];
  #ticks: readonly (() => void)[] = [];
  #shown = '';
  #loadedMs = 0;
  /** Counts questions: an answer to an older one than was shown comes too late. */
  #asked = 0;
  #answered = 0;
  #isClosed = false;

  constructor(context: PageContext) {
    this.#context = context;
    this.element = el('div', {}, this.#list, this.#note, this.#failure);
    const session = sessionOf(context);
    const load = () => void this.#load();
    this.#stops = [
      onChange(session.wallet, load),
      onChange(session.landed, load),
      onChange(tickersOf(context).learned, () => {
        this.#shown = '';
        load();
      }),
    ];
    load();
    this.#tick();
  }

  close(): void {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
  }

  #tick(): void {
    if (this.#isClosed) return;
    for (const tick of this.#ticks) tick();
    const { clock } = this.#context;
    if (clock.monotonicMs() - this.#loadedMs > LOAD_EVERY_MS) void this.#load();
    clock.after(TICK_MS, () => this.#tick());
  }

  async #load(): Promise<void> {
    const { client, clock } = this.#context;
    this.#loadedMs = clock.monotonicMs();
    const wallet = sessionOf(this.#context).wallet.value;
    if (wallet === null) {
      this.#show([]);
      return;
    }
    this.#asked += 1;
    const asked = this.#asked;
    try {
      const { data } = await client.vesting.byOwner(wallet.keyHash);
      if (wallet !== sessionOf(this.#context).wallet.value || this.#isClosed) return;
      if (asked < this.#answered) return;
      this.#answered = asked;
      this.#failure.replaceChildren();
      this.#show(data.vestings);
    } catch (error) {
      if (!this.#isClosed) this.#failure.replaceChildren(errorBox(error));
    }
  }

  #show(locks: readonly LockRow[]): void {
    const shown = JSON.stringify(locks);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const sorted = locks.toSorted((a, b) => Number(a.lockUntil) - Number(b.lockUntil));
    const rows = sorted.slice(0, MAX_ROWS).map((lock) => this.#row(lock));
    this.#ticks = rows.map(({ tick }) => tick);
    this.#list.replaceChildren(...rows.map(({ element }) => element));
    const none = 'You have no locks. Tokens are locked on the page of their token.';
    setText(this.#note, locks.length === 0 ? none : '');
  }

  #row(lock: LockRow): { readonly element: HTMLElement; readonly tick: () => void } {
    const asset = assetOf(lock);
    const ticker = tickersOf(this.#context).of(asset);
    const untilMs = Number(lock.lockUntil);
    const openMs = untilMs + SLOT_MS;
    const link = el('a', { href: routeHash({ at: 'token', asset }) }, ticker);
    const state = el('span', { class: 'lock-state dim', title: moment(untilMs / 1000) });
    const amount = shownAmount(BigInt(lock.totalLocked), 0);
    const take = button('Withdraw', () => this.#withdraw(lock, ticker), {
      describe: `Withdraw ${amount} ${ticker}`,
    });
    const tick = () => {
      const leftMs = openMs - this.#context.clock.nowMs();
      setText(state, leftMs > 0 ? `opens in ${countdown(leftMs)}` : 'open');
      take.hidden = leftMs > 0;
    };
    tick();
    const what = el('span', {}, link, ` ${amount}`);
    return { element: el('li', {}, what, state, take), tick };
  }

  async #withdraw(lock: LockRow, ticker: string): Promise<void> {
    const session = sessionOf(this.#context);
    const navigation = navigationNow();
    const fail = (error: unknown) => this.#context.notify('bad', errorText(error));
    try {
      const prepared = await session.trading().prepareWithdraw(lock.id);
      const token = { asset: assetOf(lock), ticker };
      await ask({
        title: `Withdraw ${ticker}`,
        content: [whatYouSign(prepared.review, token, ['goes to', 'The lock is yours again.'])],
        confirm: 'Sign and withdraw',
        navigation,
        run: async () => {
          const { txHash } = await prepared.submit();
          this.#context.notify('info', 'Sent. The tokens are yours when a block has it.');
          void session.follow(txHash);
          return true;
        },
        late: fail,
      });
    } catch (error) {
      fail(error);
    }
  }
}

function assetOf({ tokenPolicyId, tokenAssetName }: LockRow): string {
  return `${tokenPolicyId}.${tokenAssetName}`;
}

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** The largest unit that there is, and the next. */
function countdown(leftMs: number): string {
  const seconds = Math.ceil(leftMs / 1000);
  const first = UNITS.findIndex(([, size]) => seconds >= size);
  let left = seconds;
  const parts = UNITS.slice(first, first + 2).map(([unit, size]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return `${count} ${unit}`;
  });
  return parts.join(' ');
}
