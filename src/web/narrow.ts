/** Whether the window is as narrow as a phone's, where there is room for less; it may change. */
import { type ReadonlySignal, signal } from '@preact/signals';

const phone = matchMedia('(max-width: 600px)');
const narrow = signal(phone.matches);
phone.addEventListener('change', () => {
  narrow.value = phone.matches;
});

export const isNarrow: ReadonlySignal<boolean> = narrow;
