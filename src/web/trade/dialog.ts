/**
 * A question over the page, with one thing to do or nothing. The browser's own dialog keeps the
 * focus inside, closes with Escape and gives the focus back. It belongs to the place where it was
 * asked: the way back of a phone leaves both.
 */
import { el } from '../dom.ts';
import { failureOf } from '../failure.ts';
import { button, runOnce } from './busy.ts';
import { newId } from './field.ts';

/** How often one went elsewhere: the same address again is another visit. */
let visits = 0;
addEventListener('hashchange', () => {
  visits += 1;
});

/** Taken when a button is pressed whose question comes after some work. */
export function visitNow(): number {
  return visits;
}

export interface Question {
  readonly title: string;
  readonly content: readonly (Node | string)[];
  readonly confirm: string;
  /** Of the button that does nothing. */
  readonly leave?: string;
  /** Of the press it comes from (`visitNow`); not asked when one is elsewhere by now. */
  readonly visit?: number;
  /**
   * The dialog closes when it resolves with true, and stays with false. A rejection is shown, and
   * may be tried again.
   */
  run(): Promise<boolean>;
  /** A rejection that came after the dialog was left: work under way goes on without it. */
  late(error: unknown): void;
}

/** Resolves when it is closed: whether it was done. */
export function ask({
  title,
  content,
  confirm,
  leave = 'Back',
  visit = visits,
  run,
  late,
}: Question): Promise<boolean> {
  if (visit !== visits) return Promise.resolve(false);
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
        failure.replaceChildren(failureOf(error));
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
