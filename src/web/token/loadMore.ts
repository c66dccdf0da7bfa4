/**
 * The strip below a list that has more: how much of it is shown, and a button for more. It takes
 * its height from the list, so that nothing below moves when it appears.
 */
import type { PageContext } from '../context.ts';
import { el, setAttribute, setText } from '../dom.ts';
import { errorText } from '../errorView.ts';

interface LoadMoreOptions {
  /** Of the button: `Older trades`. */
  readonly label: string;
  /** Loads more rows; an error is shown, and the next press tries again. */
  load(): Promise<void>;
}

interface More {
  /** `words`: how much is shown. Once there was a strip, it stays: the focus may be in it. */
  show(words: string, hasMore: boolean): void;
  /** Brings the first row that comes below the present ones into view, when it is there. */
  arranged(): void;
}

export function loadMoreStrip(
  rows: HTMLElement,
  { notify }: Pick<PageContext, 'notify'>,
  { label, load }: LoadMoreOptions,
): More {
  const count = el('span', { class: 'dim small' });
  const button = el('button', { type: 'button', class: 'button' }, label);
  const strip = el('footer', { class: 'more', hidden: true }, count, button);
  rows.after(strip);
  let [isBusy, hasMore] = [false, false];
  /** The last row before more was asked for. */
  let last: Element | null = null;
  const press = async () => {
    if (isBusy || !hasMore) return;
    isBusy = true;
    setAttribute(button, 'aria-busy', 'true');
    last = rows.lastElementChild;
    try {
      await load();
    } catch (error) {
      last = null;
      notify('bad', errorText(error));
    } finally {
      isBusy = false;
      setAttribute(button, 'aria-busy', null);
    }
  };
  button.addEventListener('click', press);
  return {
    show(words, isMore) {
      hasMore = isMore;
      if (isMore) strip.hidden = false;
      setText(count, words);
      // Not `disabled`, which would throw the focus away.
      setAttribute(button, 'aria-disabled', String(!isMore));
    },
    arranged() {
      const next = last?.nextElementSibling;
      if (!(next instanceof HTMLElement)) return;
      last = null;
      rows.scrollTop = next.offsetTop - rows.offsetTop;
    },
  };
}
