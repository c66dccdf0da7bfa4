/** Buttons that do one thing at a time. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

interface ButtonProps {
  readonly run: () => Promise<void> | void;
  readonly kind?: 'primary' | 'plain-button' | 'buy' | 'sell';
  /** For readers of the screen, where the label alone says too little. */
  readonly describe?: string | undefined;
  readonly children: ComponentChildren;
}

/** Until `run` is done the button says so and takes no other click. `run` handles its errors. */
export function Button({ run, kind, describe, children }: ButtonProps) {
  const { isBusy, once } = useOnce();
  return (
    <button
      type="button"
      class={`button ${kind ?? ''}`.trim()}
      aria-label={describe}
      // Not `disabled`: the focus stays where it is.
      aria-busy={isBusy || undefined}
      aria-disabled={isBusy || undefined}
      onClick={() => once(run)}
    >
      {children}
    </button>
  );
}

/** The one button of a form that sends it; the form runs the action. */
export function SubmitButton(props: {
  readonly isBusy: boolean;
  readonly kind?: 'primary' | 'buy' | 'sell';
  readonly children: ComponentChildren;
}) {
  const { isBusy, kind = 'primary', children } = props;
  return (
    <button
      type="submit"
      class={`button ${kind}`}
      aria-busy={isBusy || undefined}
      aria-disabled={isBusy || undefined}
    >
      {children}
    </button>
  );
}

interface Once {
  readonly isBusy: boolean;
  /** Does nothing while another run is going on. */
  readonly once: (run: () => Promise<void> | void) => void;
}

export function useOnce(): Once {
  const busy = useSignal(false);
  const once = async (run: () => Promise<void> | void) => {
    if (busy.peek()) return;
    busy.value = true;
    try {
      await run();
    } finally {
      busy.value = false;
    }
  };
  return { isBusy: busy.value, once: (run) => void once(run) };
}
