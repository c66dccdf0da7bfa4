/** Bounds on what the table shows. */
import { t } from '../messages.ts';
import { type Bounds, bounds, countOf, NO_BOUNDS } from './market.ts';

const NAMES = ['minMarketCap', 'maxMarketCap', 'minVolume', 'maxAgeHours'] as const;
const AMOUNT = /^\d{0,12}$/;

export function Filters({ isOrderKept }: { readonly isOrderKept: boolean }) {
  const count = countOf(bounds.value);
  return (
    <div class="filters">
      <details class="menu left">
        <summary class="button plain-button">
          {t.home.filters}
          {count > 0 && <span class="mark">{count}</span>}
        </summary>
        <div class="menu-list">
          {NAMES.map((name) => (
            <Bound key={name} name={name} value={bounds.value[name]} />
          ))}
          <button
            type="button"
            class="button"
            onClick={() => {
              bounds.value = NO_BOUNDS;
            }}
          >
            {t.home.noFilters}
          </button>
        </div>
      </details>
      <span class="dim small">{isOrderKept ? t.home.orderKept : ''}</span>
    </div>
  );
}

function Bound({ name, value }: { readonly name: keyof Bounds; readonly value: string }) {
  return (
    <label class="field">
      <span class="label">{t.home.bounds[name]}</span>
      <input
        type="text"
        inputMode="numeric"
        value={value}
        onInput={({ currentTarget }) => {
          const text = currentTarget.value.trim();
          if (AMOUNT.test(text)) bounds.value = { ...bounds.value, [name]: text };
          else currentTarget.value = value;
        }}
      />
    </label>
  );
}
