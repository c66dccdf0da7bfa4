/**
 * Modal dialogs with one action each. The browser's own dialog keeps the focus inside, closes with
 * Escape and gives the focus back. A dialog belongs to the place where it was asked: the way back
 * of a phone leaves both.
 */
import { signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { t } from '../messages.ts';
import { Button, SubmitButton, useOnce } from './button.tsx';
import { ErrorBox } from './errorBox.tsx';

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
  readonly content: ComponentChildren;
  readonly confirm: string;
  /**
   * Side of an order: the button has the colour of its side, and the focus, so that Enter signs.
   */
  readonly side?: 'buy' | 'sell' | undefined;
  /** Label of the button that cancels; null: there is nothing to cancel. */
  readonly leave?: string | null;
  /**
   * The navigation count when the button was pressed (`navigationNow`); not shown when the user has
   * left since.
   */
  readonly navigation?: number;
  /**
   * The dialog closes when it resolves with true, and stays with false. A rejection is shown, and
   * may be tried again.
   */
  readonly run: () => Promise<boolean>;
  /** A rejection that came after the dialog was left: the work continues without it. */
  readonly late: (error: unknown) => void;
}

interface Asked {
  readonly id: number;
  readonly question: Question;
  /** When it was asked. */
  readonly navigation: number;
  readonly close: (isDone: boolean) => void;
}

const open = signal<readonly Asked[]>([]);
let asked = 0;

/** Resolves when it is closed: whether it was done. */
export function ask(question: Question): Promise<boolean> {
  if ((question.navigation ?? navigations) !== navigations) return Promise.resolve(false);
  asked += 1;
  const id = asked;
  const closed = Promise.withResolvers<boolean>();
  const close = (isDone: boolean) => {
    open.value = open.value.filter((each) => each.id !== id);
    closed.resolve(isDone);
  };
  open.value = [...open.value, { id, question, navigation: navigations, close }];
  return closed.promise;
}

/** All that are open; one may ask another. */
export function Dialogs() {
  return (
    <>
      {open.value.map((each) => (
        <Dialog
          key={each.id}
          question={each.question}
          navigation={each.navigation}
          close={each.close}
        />
      ))}
    </>
  );
}

function Dialog({ question, navigation, close }: Omit<Asked, 'id'>) {
  const { title, content, confirm, side, leave = t.words.back, run, late } = question;
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const failure = useSignal<unknown>(null);
  const isDone = useRef(false);
  const { isBusy, once } = useOnce();
  useEffect(() => {
    const left = () => dialog.current?.close();
    dialog.current?.showModal();
    if (side !== undefined) {
      dialog.current?.querySelector<HTMLElement>('button[type=submit]')?.focus();
    }
    // The place may have been left between the question and this moment.
    if (navigation !== navigations) left();
    addEventListener('hashchange', left);
    return () => removeEventListener('hashchange', left);
  }, []);
  const submit = async () => {
    failure.value = null;
    try {
      isDone.current = await run();
      if (isDone.current) dialog.current?.close();
    } catch (error) {
      if (dialog.current?.open === true) failure.value = error;
      else late(error);
    }
  };
  return (
    <dialog class="ask" aria-labelledby={id} ref={dialog} onClose={() => close(isDone.current)}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          once(submit);
        }}
        // The key that opened it, still held down, must not sign.
        onKeyDown={(event) => {
          if (event.key === 'Enter' && event.repeat) event.preventDefault();
        }}
      >
        <h2 id={id}>{title}</h2>
        <div class="dialog-content">{content}</div>
        {failure.value !== null && <ErrorBox error={failure.value} />}
        <div class="dialog-buttons">
          {leave !== null && <Button run={() => dialog.current?.close()}>{leave}</Button>}
          <SubmitButton isBusy={isBusy} kind={side ?? 'primary'}>
            {confirm}
          </SubmitButton>
        </div>
      </form>
    </dialog>
  );
}

type Fact = readonly [name: ComponentChildren, value: ComponentChildren];

/** Names and values, one below the other. */
export function Facts({ rows }: { readonly rows: readonly Fact[] }) {
  return (
    <dl class="term-list">
      {rows.map(([name, value], at) => (
        <div key={at}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
