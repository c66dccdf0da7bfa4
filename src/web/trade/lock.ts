/** Locking tokens: amount, end and stages, with the table of what opens when. */
import type { PageContext, Unmount } from '../context.ts';
import { el, setText } from '../dom.ts';
import { errorText } from '../errorView.ts';
import { moment } from '../format.ts';
import { onChange } from '../signal.ts';
import { amountHeld } from '../wallet/connectedWallet.ts';
import { sessionOf } from '../wallet/session.ts';
import { plainAmount, readAmount, shownAmount } from './amount.ts';
import { button } from './button.ts';
import { whatYouSign } from './confirmOrder.ts';
import { ask, navigationNow } from './dialog.ts';
import { amountField, fieldOf, textField } from './field.ts';
import type { Token } from './quoteTerms.ts';
import { MAX_STAGES, unlockSchedule } from './unlockSchedule.ts';

const DAY_MS = 86_400_000;
const LATER = [
  ['1 day', DAY_MS],
  ['30 days', 30 * DAY_MS],
  ['1 year', 365 * DAY_MS],
] as const;

export function mountLockButton(
  container: HTMLElement,
  context: PageContext,
  token: () => Token,
): Unmount {
  const session = sessionOf(context);
  const open = button('Lock tokens…', () => lockTokens(context, token()));
  const words = 'Locked tokens cannot be moved before their time, not even by you.';
  container.append(open, el('p', { class: 'hint' }, words));
  const show = () => {
    container.hidden = amountHeld(session.balance.value, token().asset) === 0n;
  };
  const stops = [onChange(session.balance, show), onChange(session.wallet, show)];
  show();
  return () => {
    for (const stop of stops) stop();
  };
}

async function lockTokens(context: PageContext, token: Token): Promise<void> {
  const session = sessionOf(context);
  const form = new LockForm(context, token, () => amountHeld(session.balance.value, token.asset));
  const late = (error: unknown) => context.notify('bad', errorText(error));
  await ask({
    title: `Lock ${token.ticker}`,
    content: [form.element],
    confirm: 'Review the lock',
    async run() {
      const navigation = navigationNow();
      const terms = form.read();
      const request = { assetId: token.asset, ...terms };
      const prepared = await session.trading().prepareLock(request);
      const goes = [
        'is locked at',
        'Each stage is a separate output, for your key alone.',
      ] as const;
      return ask({
        title: `Lock ${shownAmount(terms.amount, 0)} ${token.ticker}`,
        content: [form.table(), whatYouSign(prepared.review, token, goes)],
        confirm: 'Sign and lock',
        navigation,
        async run() {
          const { txHash } = await prepared.submit();
          context.notify('info', 'The lock was sent. It counts when a block has it.');
          void session.follow(txHash);
          return true;
        },
        late,
      });
    },
    late,
  });
}

/** Throws what is wrong in words from `read`, and says it beside the field. */
class LockForm {
  readonly element: HTMLElement;
  readonly #context: PageContext;
  readonly #amount;
  readonly #end = textField(
    { label: 'Until (your time)', hint: 'The last stage opens at this moment.' },
    { type: 'datetime-local', step: '1' },
  );
  readonly #stages = fieldOf(
    el(
      'select',
      {},
      ...Array.from({ length: MAX_STAGES }, (_, index) =>
        el(
          'option',
          { value: String(index + 1) },
          index === 0 ? '1, all at once' : String(index + 1),
        ),
      ),
    ),
    { label: 'Stages', hint: 'Equal parts, at equal steps of time.' },
  );
  readonly #table = el('div', { class: 'unlocks' });

  constructor(context: PageContext, token: Token, held: () => bigint) {
    this.#context = context;
    const hint = `You have ${shownAmount(held(), 0)}.`;
    this.#amount = amountField({ label: 'Amount', unit: token.ticker, hint });
    const all = button('All', () => {
      this.#amount.input.value = plainAmount(held(), 0);
      this.#draw();
    });
    const quick = LATER.map(([label, laterMs]) =>
      button(label, () => {
        this.#end.input.value = localText(context.clock.nowMs() + laterMs);
        this.#draw();
      }),
    );
    this.#end.input.value = localText(context.clock.nowMs() + 30 * DAY_MS);
    this.element = el(
      'div',
      { class: 'lock-form' },
      this.#amount.root,
      el('div', { class: 'quick' }, all),
      this.#end.root,
      el('div', { class: 'quick' }, ...quick),
      this.#stages.root,
      this.#table,
    );
    for (const each of [this.#amount.input, this.#end.input, this.#stages.input]) {
      each.addEventListener('input', () => this.#draw());
    }
    this.#draw();
  }

  read(): { amount: bigint; lockEndMs: number; stages: number } {
    const found = this.#look();
    this.#amount.problem(typeof found.amount === 'string' ? found.amount : null);
    this.#end.problem(typeof found.lockEndMs === 'string' ? found.lockEndMs : null);
    const { amount, lockEndMs, stages } = found;
    if (typeof amount === 'string') throw new Error(amount);
    if (typeof lockEndMs === 'string') throw new Error(lockEndMs);
    return { amount, lockEndMs, stages };
  }

  /** Of what is filled in now. */
  table(): HTMLElement {
    const { amount, lockEndMs, stages } = this.#look();
    const isWhole = typeof amount === 'bigint' && typeof lockEndMs === 'number';
    const unlocks = isWhole
      ? unlockSchedule(amount, stages, this.#context.clock.nowMs(), lockEndMs)
      : [];
    const rows = unlocks.map(({ stage, atMs, amount: part }) =>
      el(
        'tr',
        {},
        el('td', {}, String(stage)),
        el('td', {}, moment(atMs / 1000)),
        el('td', { class: 'num' }, shownAmount(part, 0)),
      ),
    );
    const heads = ['Stage', 'Opens', 'Tokens'].map((text) => el('th', { scope: 'col' }, text));
    const caption = el('caption', { class: 'unseen' }, 'What opens when');
    const table = el('table', {}, caption, el('thead', {}, el('tr', {}, ...heads)));
    table.append(el('tbody', {}, ...rows));
    return table;
  }

  #look() {
    const amount = readAmount(this.#amount.input.value, 0);
    const { value } = this.#end.input;
    const atMs = value === '' ? Number.NaN : new Date(value).getTime();
    const stages = Number(this.#stages.input.value);
    const lockEndMs = Number.isNaN(atMs)
      ? 'Choose the moment until which they are locked.'
      : atMs <= this.#context.clock.nowMs()
        ? 'This moment has passed: choose a later one.'
        : atMs;
    return { amount, lockEndMs, stages } as const;
  }

  #draw(): void {
    const { amount } = this.#look();
    const isTyped = this.#amount.input.value.trim() !== '';
    this.#amount.problem(isTyped && typeof amount === 'string' ? amount : null);
    this.#end.problem(null);
    setText(this.#table, '');
    this.#table.append(this.table());
  }
}

/** As `datetime-local` wants it: the reader's own time, to the second. */
function localText(ms: number): string {
  const at = new Date(ms);
  const two = (value: number) => String(value).padStart(2, '0');
  const date = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${date}T${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')}`;
}
