/** Bounds on the rows of the table. */
import { Choices } from '../components/choices.tsx';
import { Menu } from '../components/menu.tsx';
import { t } from '../messages.ts';
import { ColumnsMenu } from './columnsMenu.tsx';
import { type Bounds, bounds, choosesSide, countOf, NO_BOUNDS, type Tab } from './market.ts';

const NAMES = ['minMarketCap', 'maxMarketCap', 'minVolume', 'minAgeHours', 'maxAgeHours'] as const;
const TRUST = ['minHolders', 'maxTop10Percent', 'maxAuthorPercent', 'maxSnipersPercent'] as const;
const SIDES = ['', 'false', 'true'] as const;
const AMOUNT = /^\d{0,12}$/;
/** As the API takes it: at most 100, with 2 decimals. */
const PERCENT = /^(100|\d{0,2}|\d{1,2}\.\d{0,2})$/;

interface FiltersProps {
  readonly tab: Tab;
  /** A line beside the button. */
  readonly note: string;
  /** Only a table has them. */
  readonly hasColumns: boolean;
}

export function Filters({ tab, note, hasColumns }: FiltersProps) {
  const count = countOf(bounds.value, tab);
  return (
    <div class="filters">
      <Menu label={t.home.filters} count={count} isAtStart>
        {choosesSide(tab) && (
          <Choices
            name={t.home.side}
            options={SIDES.map((value) => ({ value, label: t.home.sides[value] }))}
            value={bounds.value.graduated}
            choose={(graduated) => {
              bounds.value = { ...bounds.value, graduated };
            }}
          />
        )}
        {NAMES.map((name) => (
          <Bound key={name} name={name} value={bounds.value[name]} />
        ))}
        {TRUST.map((name) => (
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
      </Menu>
      {hasColumns && <ColumnsMenu />}
      <span class="dim small">{note}</span>
      <span class="dim small base">{t.trust.badgesBase}</span>
    </div>
  );
}

interface BoundProps {
  readonly name: Exclude<keyof Bounds, 'graduated'>;
  readonly value: string;
}

function Bound({ name, value }: BoundProps) {
  const isPercent = name.endsWith('Percent');
  return (
    <label class="field">
      <span class="label">{t.home.bounds[name]}</span>
      <input
        type="text"
        inputMode={isPercent ? 'decimal' : 'numeric'}
        value={value}
        onInput={({ currentTarget }) => {
          const text = currentTarget.value.trim();
          if ((isPercent ? PERCENT : AMOUNT).test(text))
            bounds.value = { ...bounds.value, [name]: text };
          else currentTarget.value = value;
        }}
      />
    </label>
  );
}
