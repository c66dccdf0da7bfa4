/** The inputs of a trade: side, amount as typed or by its share of the balance, slippage. */
import type { Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { AmountField, ChoiceBar, TextField } from '../components/field.tsx';
import { localized } from '../format.ts';
import { t } from '../messages.ts';
import { ADA_DECIMALS, plainAmount, readAmount, shareOf } from './amount.ts';
import { buySizes, side } from './sizes.ts';
import { SLIPPAGES, type SlippageChoice, slippage, slippageOf } from './slippage.ts';

export type BuyBy = 'BUY' | 'BUY_WITH_OUTPUT';

const BUY_BY: readonly BuyBy[] = ['BUY', 'BUY_WITH_OUTPUT'];
const SIDES = ['buy', 'sell'] as const;
/** Percentages of the wallet's holding. */
export const SHARES = [25, 50, 75, 100];
/** Lovelace that a buy of everything leaves: fees, the deposit, and coins beside the tokens. */
const KEPT = 8_000_000n;

interface AmountPartProps {
  readonly ticker: string;
  readonly text: string;
  readonly problem: string | null;
  readonly type: (text: string) => void;
  readonly box: RefObject<HTMLInputElement | null>;
  /** Balance of the offered asset; null while it is not known. */
  readonly held: bigint | null;
}

interface TradeFieldsProps extends AmountPartProps {
  readonly buyBy: Signal<BuyBy>;
}

export function TradeFields({ buyBy, ...amount }: TradeFieldsProps) {
  const isSell = side.value === 'sell';
  return (
    <div class="trade-fields">
      <Direction />
      {!isSell && (
        <ChoiceBar
          class="bare"
          legend={t.trade.buyBy}
          options={BUY_BY.map((value) => ({ value, label: t.trade.buyByNames[value] }))}
          value={buyBy.value}
          choose={(chosen) => {
            buyBy.value = chosen;
          }}
        />
      )}
      <AmountPart {...amount} isAda={!isSell && buyBy.value === 'BUY'} />
      <SlippageFields />
    </div>
  );
}

export function Direction() {
  return (
    <ChoiceBar
      class="direction bare"
      legend={t.trade.side}
      options={SIDES.map((value) => ({ value, label: t.trade[value] }))}
      value={side.value}
      choose={(chosen) => {
        side.value = chosen;
      }}
    />
  );
}

/** The amount to spend, sell or receive, as typed or by its share of the balance. */
export function AmountPart(props: AmountPartProps & { readonly isAda: boolean }) {
  const { ticker, text, problem, type, box, held, isAda } = props;
  const isSell = side.value === 'sell';
  const label = isSell ? t.trade.youSell : isAda ? t.trade.youSpend : t.trade.youGet;
  return (
    <>
      <AmountField
        label={label}
        unit={isAda ? 'ADA' : ticker}
        value={text}
        input={type}
        box={box}
        problem={problem}
      />
      {(isSell || isAda) && held !== null && (
        <BalanceSlider held={held} isAda={isAda} text={text} type={type} />
      )}
      {isAda && <Sizes type={type} />}
      {isSell && <Shares held={held ?? 0n} type={type} />}
    </>
  );
}

interface QuickProps {
  readonly type: (text: string) => void;
}

function Sizes({ type }: QuickProps) {
  return (
    <fieldset class="quick">
      <legend class="unseen">{t.trade.amounts}</legend>
      {buySizes.value.map((size, index) => (
        <button key={index} type="button" class="button" onClick={() => type(size)}>
          {size} ₳
        </button>
      ))}
    </fieldset>
  );
}

function Shares({ held, type }: QuickProps & { readonly held: bigint }) {
  return (
    <fieldset class="quick">
      <legend class="unseen">{t.trade.amounts}</legend>
      {SHARES.map((percent) => (
        <button
          key={percent}
          type="button"
          class="button"
          onClick={() => type(plainAmount(shareOf(held, percent), 0))}
        >
          {percent} %
        </button>
      ))}
    </fieldset>
  );
}

interface BalanceSliderProps {
  readonly held: bigint;
  readonly isAda: boolean;
  readonly text: string;
  readonly type: (text: string) => void;
}

/** The amount as a share of what there is; coins keep what fees and deposits take. */
function BalanceSlider({ held, isAda, text, type }: BalanceSliderProps) {
  const decimals = isAda ? ADA_DECIMALS : 0;
  const free = isAda ? (held > KEPT ? held - KEPT : 0n) : held;
  const amount = readAmount(text, decimals);
  const share = typeof amount === 'bigint' && free > 0n ? roundedPercent(amount, free) : 0;
  const percent = Math.min(100, share);
  const slide = (chosen: number) => {
    const part = shareOf(free, chosen);
    // Whole coins: the last digits of a share mean nothing.
    type(part === 0n ? '' : plainAmount(isAda ? part - (part % 1_000_000n) : part, decimals));
  };
  return (
    <label class="slider">
      <span class="unseen">{t.trade.share}</span>
      <input
        type="range"
        min={0}
        max={100}
        step={1}
        value={percent}
        disabled={free === 0n}
        aria-valuetext={`${percent} %`}
        onInput={({ currentTarget }) => slide(Number(currentTarget.value))}
      />
      <span class="num small dim" aria-hidden="true">
        {percent} %
      </span>
    </label>
  );
}

/** Half of an odd number of tokens is 50 %, but only everything is 100 %. */
function roundedPercent(part: bigint, whole: bigint): number {
  const rounded = Number((part * 200n + whole) / (whole * 2n));
  return part < whole ? Math.min(99, rounded) : rounded;
}

function SlippageFields() {
  const { choice, own } = slippage.value;
  const allowed = slippageOf(slippage.value);
  const options = SLIPPAGES.map((value) => ({ value, label: labelOf(value) }));
  const words =
    allowed === 'notAPercentage'
      ? ''
      : allowed === null
        ? t.trade.anyOutput
        : t.trade.fillsFor({ percent: percentText(10_000n - allowed) });
  return (
    <>
      <ChoiceBar
        class="in-line"
        legend={t.trade.slippage}
        options={options}
        value={choice}
        choose={(chosen) => {
          slippage.value = { choice: chosen, own };
        }}
      />
      {choice === 'own' && (
        <TextField
          label={t.trade.ownSlippage}
          unit="%"
          value={own}
          input={(typed) => {
            slippage.value = { choice, own: typed };
          }}
          attributes={{ inputMode: 'decimal', maxLength: 6 }}
          problem={allowed === 'notAPercentage' ? t.trade.notAPercentage : null}
        />
      )}
      <p class="hint slippage-words">{words}</p>
    </>
  );
}

function labelOf(choice: SlippageChoice): string {
  if (choice === 'own') return t.trade.own;
  return choice === 'any' ? t.trade.any : `${choice} %`;
}

/** Hundredths of a percent. */
function percentText(hundredths: bigint): string {
  const rest = String(hundredths % 100n).padStart(2, '0');
  return rest === '00' ? `${hundredths / 100n} %` : localized(`${hundredths / 100n}.${rest} %`);
}
