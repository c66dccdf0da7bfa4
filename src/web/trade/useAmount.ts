/** The text of an amount field, its exact value, and its error in words. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { readAmount } from './amount.ts';

/** `of`: the asset of the amount. When the asset changes, the field becomes empty. */
export function useAmount(of: string, decimals: number, first = '') {
  const text = useSignal(first);
  const problem = useSignal<string | null>(null);
  const box = useRef<HTMLInputElement>(null);
  const type = (typed: string) => {
    text.value = typed;
    const amount = readAmount(typed, decimals);
    problem.value = typed.trim() !== '' && typeof amount === 'string' ? amount : null;
  };
  const clear = () => type('');
  const typedFor = useRef(of);
  useEffect(() => {
    // Not so at first, when one types at once.
    if (typedFor.current !== of) clear();
    typedFor.current = of;
  }, [of]);
  const amount = readAmount(text.value, decimals);
  /** null, after the error was shown: the text is not an amount. */
  const checked = (): bigint | null => {
    if (typeof amount === 'bigint') return amount;
    problem.value = amount;
    box.current?.focus();
    return null;
  };
  return { text: text.value, problem: problem.value, amount, box, type, clear, checked };
}
