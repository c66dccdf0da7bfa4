/**
 * Buys of set sizes with one press, after they were switched on. The user sets the sizes. The bytes
 * are checked as always; only the last look is left out.
 */
import { useSignal } from '@preact/signals';
import { Button } from '../components/button.tsx';
import { TextField } from '../components/field.tsx';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { ADA_DECIMALS, readAmount } from './amount.ts';
import { placeAtOnce } from './placing.tsx';
import type { Token } from './quoteTerms.ts';
import { buySizes, isSize, oneClick } from './sizes.ts';
import { slippage, slippageOf } from './slippage.ts';

export function OneClick({ token }: { readonly token: Token }) {
  return (
    <details class="inside one-click">
      <summary>{t.trade.oneClick}</summary>
      <div class="trade-fields">
        <fieldset class="sizes">
          <legend class="small dim">{t.trade.sizes}</legend>
          {buySizes.value.map((_, index) => (
            <SizeField key={index} index={index} />
          ))}
        </fieldset>
        <label class="switch">
          <input
            type="checkbox"
            checked={oneClick.value}
            onChange={({ currentTarget }) => {
              oneClick.value = currentTarget.checked;
            }}
          />
          {t.trade.switchOn}
        </label>
        <p class="caution">{t.trade.oneClickMeans}</p>
        {oneClick.value && <BuyButtons token={token} />}
      </div>
    </details>
  );
}

/** A text that is not a size yet stays in the field and is not kept. */
function SizeField({ index }: { readonly index: number }) {
  const draft = useSignal(buySizes.value[index] ?? '');
  return (
    <TextField
      label={t.trade.sizeNumber({ number: index + 1 })}
      value={draft.value}
      input={(text) => {
        draft.value = text;
        if (isSize(text)) buySizes.value = buySizes.value.with(index, text.trim());
      }}
      problem={isSize(draft.value) ? null : t.trade.noSize}
      attributes={{ inputMode: 'decimal', maxLength: 12 }}
    />
  );
}

function BuyButtons({ token }: { readonly token: Token }) {
  const context = usePage();
  const allowed = slippageOf(slippage.value);
  if (allowed === 'notAPercentage') return <p class="problem">{t.trade.notAPercentage}</p>;
  const buy = async (size: string) => {
    const amount = readAmount(size, ADA_DECIMALS);
    if (typeof amount === 'string') return;
    await placeAtOnce(context, token, { side: 'BUY', amount, slippage: allowed, seen: null });
  };
  return (
    <fieldset class="quick">
      <legend class="unseen">{t.trade.buyNow}</legend>
      {buySizes.value.map((size, index) => (
        <Button
          key={index}
          kind="buy"
          describe={t.trade.buyNowFor({ ada: size })}
          run={() => buy(size)}
        >
          {t.trade.buyFor({ ada: size })}
        </Button>
      ))}
    </fieldset>
  );
}
