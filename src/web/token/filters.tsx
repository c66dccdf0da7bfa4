/** Chooses which rows of a list are shown: a side, a least size, one's own. */
import type { ReadonlySignal, Signal } from '@preact/signals';
import { Choices } from '../components/choices.tsx';
import { shortAda } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { sessionOf } from '../wallet/session.ts';
import { type RowFilter, SIDES } from './rowFilter.ts';

/** Lovelace. */
const SIZES = [0n, 100_000_000n, 1_000_000_000n, 10_000_000_000n] as const;

/** Payment key of the connected wallet; null without one. */
export function useOwnKey(): string | null {
  const wallet: ReadonlySignal<{ readonly keyHash: string } | null> = sessionOf(usePage()).wallet;
  return wallet.value?.keyHash ?? null;
}

/** `of`: the name of the list, for screen readers. */
export function RowFilters(props: { readonly filter: Signal<RowFilter>; readonly of: string }) {
  const { filter, of } = props;
  const { side, minLovelace, isOwn } = filter.value;
  const isConnected = useOwnKey() !== null;
  const change = (part: Partial<RowFilter>) => {
    filter.value = { ...filter.value, ...part };
  };
  return (
    <div class="row-filters">
      <Choices
        name={t.token.sideOf({ what: of })}
        options={SIDES.map((value) => ({ value, label: t.token.sides[value] }))}
        value={side}
        choose={(chosen) => change({ side: chosen })}
      />
      <select
        class="small"
        aria-label={t.token.sizeOf({ what: of })}
        value={String(minLovelace)}
        onChange={({ currentTarget }) => change({ minLovelace: BigInt(currentTarget.value) })}
      >
        {SIZES.map((size) => (
          <option key={String(size)} value={String(size)}>
            {size === 0n ? t.token.anySize : `≥ ${shortAda(size)}`}
          </option>
        ))}
      </select>
      {isConnected && (
        <label class="own-only small">
          <input
            type="checkbox"
            checked={isOwn}
            onChange={({ currentTarget }) => change({ isOwn: currentTarget.checked, maker: null })}
          />
          {t.token.mine}
        </label>
      )}
    </div>
  );
}
