/** The text of an amount field, its exact value, and its error in words. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { readAmount } from './amount.ts';

interface AmountOf {
  /** The asset of the amount: of another one, the field is empty. */
  readonly of: string;
  readonly decimals: number;
}

interface Field {
  readonly of: string;
  readonly text: string;
  /** Why the text was refused when it was sent; null: it was not. */
  readonly refused: string | null;
}

const EMPTY = { text: '', refused: null };

/** `now` is asked again for each key: several may come before the form is drawn again. */
export function useAmount(now: () => AmountOf, first = '') {
  const { of, decimals } = now();
  const field = useSignal<Field>({ of, text: first, refused: null });
  const box = useRef<HTMLInputElement>(null);
  const read = (asset: string, digits: number) => {
    const { text, refused } = field.value.of === asset ? field.value : EMPTY;
    return { text, refused, amount: readAmount(text, digits) };
  };
  const type = (text: string) => {
    field.value = { of: now().of, text, refused: null };
  };
  const clear = () => type('');
  const { text, refused, amount } = read(of, decimals);
  /** null, after the error was shown: the text is not an amount. */
  const checked = (): bigint | null => {
    const asked = now();
    const last = read(asked.of, asked.decimals);
    if (typeof last.amount === 'bigint') return last.amount;
    field.value = { of: asked.of, text: last.text, refused: last.amount };
    box.current?.focus();
    return null;
  };
  const isWrong = text.trim() !== '' && typeof amount === 'string';
  const problem = isWrong ? amount : text === '' ? refused : null;
  return { text, problem, amount, box, type, clear, checked };
}
