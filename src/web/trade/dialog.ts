/**
 * A modal dialog with one action. The browser's own dialog keeps the
 * focus inside, closes with Escape and gives the focus back. It belongs to the place where it was
 * asked: the way back of a phone leaves both.
 */
import { el } from '../dom.ts';
import { errorBox } from '../errorView.ts';
import { button, runOnce } from './button.ts';
import { newId } from './field.ts';

/** Counts navigations: the same address again is another one. */
let navigations = 0;
addEventListener('hashchange', () => {
  navigations += 1;
});

/** Taken when a button is pressed whose dialog comes after some work. */
export function navigationNow(): number {
  return navigations;
}

interface Question {
  readonly title: string;
  readonly content: readonly (Node | string)[];
  readonly confirm: string;
  /** Of the button that does nothing. */
  readonly leave?: string;
  /** Of the press it comes from (`navigationNow`); not shown when the user has left since. */
  readonly navigation?: number;
  /**
   * The dialog closes when it resolves with true, and stays with false. A rejection is shown, and
   * may be tried again.
   */
  run(): Promise<boolean>;
  /** A rejection that came after the dialog was left: the work continues without it. */
  late(error: unknown): void;
}

/** Resolves when it is closed: whether it was done. */
export function ask({
  title,
  content,
  confirm,
  leave = 'Back',
  navigation = navigations,
  run,
  late,
}: Question): Promise<boolean> {
  if (navigation !== navigations) return Promise.resolve(false);
  const id = newId('dialog');
  const closed = Promise.withResolvers<boolean>();
  const failure = el('div', { class: 'dialog-failure' });
  let isDone = false;
  const dialog = el('dialog', { class: 'ask', 'aria-labelledby': id });
  const no = button(leave, () => dialog.close());
  const yes = button(confirm, () => {}, { kind: 'primary', type: 'submit' });
  const form = el(
    'form',
    { method: 'dialog' },
    el('h2', { id }, title),
    el('div', { class: 'dialog-content' }, ...content),
    failure,
    el('div', { class: 'dialog-buttons' }, no, yes),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void runOnce(yes, async () => {
      failure.replaceChildren();
      try {
        isDone = await run();
        if (isDone) dialog.close();
      } catch (error) {
        if (!dialog.isConnected) late(error);
        failure.replaceChildren(errorBox(error));
      }
    });
  });
  const left = () => dialog.close();
  addEventListener('hashchange', left);
  dialog.addEventListener('close', () => {
    removeEventListener('hashchange', left);
    dialog.remove();
    closed.resolve(isDone);
  });
  dialog.append(form);
  document.body.append(dialog);
  dialog.showModal();
  return closed.promise;
}

/** Names and values, one below the other. */
export function facts(
  rows: readonly (readonly [name: string, value: Node | string])[],
): HTMLElement {
  const list = el('dl', { class: 'term-list' });
  for (const [name, value] of rows) {
    list.append(el('div', {}, el('dt', {}, name), el('dd', {}, value)));
  }
  return list;
}
