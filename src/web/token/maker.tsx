/** The wallet whose trades alone are shown: its cost for this token, and its profit. */

import { ends, localized } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { useQuery } from '../useQuery.ts';
import { lookOf, moneyText, signed, withSign } from '../wallet/gainText.ts';

interface MakerProps {
  readonly asset: string;
  readonly pkh: string;
  readonly leave: () => void;
}

export function Maker({ asset, pkh, leave }: MakerProps) {
  const { client, pool } = usePage();
  const card = useQuery(
    'maker',
    async (signal) => (await client.holders.pnlCard(asset, [pkh], { signal })).data,
    [asset, pkh],
    // Its gain follows the price.
    pool.value,
  ).value.data;
  return (
    <p class="maker-line small">
      <span class="dim">{t.token.thisWallet}</span>
      <span class="code" title={pkh}>
        {ends(pkh, 4)}
      </span>
      {card !== null && (
        <>
          <span>
            <span class="dim">{t.token.invested}</span> {moneyText(card.investedAda)}
          </span>
          <span>
            <span class="dim">{t.token.gain}</span>{' '}
            <span class={lookOf(card.currentAdaGain)}>
              {signed(card.currentAdaGain)} ({withSign(localized(card.pnlPercent))} %)
            </span>
          </span>
        </>
      )}
      <button
        type="button"
        aria-label={t.token.allTrades}
        title={t.token.allTrades}
        onClick={leave}
      >
        ×
      </button>
    </p>
  );
}
