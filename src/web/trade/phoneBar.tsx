/** Buy and Sell at the bottom of a phone, wherever one has scrolled: they lead to the form. */
import { t } from '../messages.ts';
import { side } from './sizes.ts';

const SIDES = ['buy', 'sell'] as const;

export function PhoneBar() {
  const lead = (to: (typeof SIDES)[number]) => {
    side.value = to;
    document.querySelector('.panel.trade')?.scrollIntoView({ block: 'start' });
    const amount = document.querySelector('.trade-form input.amount');
    if (amount instanceof HTMLElement) amount.focus({ preventScroll: true });
  };
  return (
    <div class="phone-bar">
      {SIDES.map((to) => (
        <button key={to} type="button" class={`button ${to}`} onClick={() => lead(to)}>
          {t.trade[to]}
        </button>
      ))}
    </div>
  );
}
