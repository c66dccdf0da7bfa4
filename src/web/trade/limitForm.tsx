/**
 * A limit order: an amount and a price, and how long it waits until the pool gives that price for
 * the whole amount. It is an order as any other, whose worst price need not be there yet.
 */
import { type Signal, useSignal } from '@preact/signals';
import { formatUnits } from '../../engine/market/decimal.ts';
import { SubmitButton, useOnce } from '../components/button.tsx';
import { ErrorBox } from '../components/errorBox.tsx';
import { AmountField, ChoiceBar } from '../components/field.tsx';
import { shortMoment, typedPrice } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { WalletPrompt } from '../wallet/prompt.tsx';
import { sessionOf } from '../wallet/session.ts';
import { ADA_DECIMALS } from './amount.ts';
import { minFor, PRICE_DECIMALS, priceOf } from './limitTerms.ts';
import { placeAfterLook, type Wanted } from './placing.tsx';
import { shownOf } from './quoteTerms.ts';
import { side } from './sizes.ts';
import { AmountPart, Direction } from './tradeFields.tsx';
import type { FormProps } from './tradePanel.tsx';
import { useAmount } from './useAmount.ts';

const WAITS = { hour: 3_600, day: 86_400, week: 604_800, month: 2_592_000 } as const;
type Wait = keyof typeof WAITS;
const WAIT_NAMES: readonly Wait[] = ['hour', 'day', 'week', 'month'];
/** Percent below the price of now for a buy, above it for a sell. */
const STEPS = [5, 10, 25, 50];

const PRICE = { of: 'price', decimals: PRICE_DECIMALS };

function offeredNow() {
  return { of: side.value, decimals: side.value === 'sell' ? 0 : ADA_DECIMALS };
}

/** null: not known yet. */
function priceNow({ metrics }: FormProps['pool'], supply: bigint | null) {
  return supply === null ? null : priceOf(BigInt(metrics.marketCap), supply);
}

export function LimitForm({ pool, token, coins, tokens }: FormProps) {
  const context = usePage();
  const session = sessionOf(context);
  const now = priceNow(pool, context.network.value?.supply ?? null);
  const isSell = side.value === 'sell';
  const price = useAmount(() => PRICE, now === null ? '' : typed(now));
  const amount = useAmount(offeredNow);
  const wait = useSignal<Wait>('day');
  // Orders for a pool of Splash, which a token of mainnet graduates to, have no end.
  const isForever = context.network.value?.name === 'mainnet';
  const failure = useSignal<unknown>(null);
  const { isBusy, once } = useOnce();
  const place = async () => {
    failure.value = null;
    const [limit, offered] = [price.checked(), amount.checked()];
    if (limit === null || offered === null) return;
    const minOutput = minFor(side.value, offered, limit);
    const terms = { minOutput, waitFor: WAITS[wait.value], price: price.text };
    const wanted = limitOrder(isSell, offered, terms);
    try {
      if (await placeAfterLook(context, token, wanted)) amount.clear();
    } catch (error) {
      failure.value = error;
    }
  };
  const held = session.balance.value === null ? null : isSell ? tokens : coins;
  return (
    <form
      class="inside trade-form"
      noValidate
      aria-label={t.trade.kinds.limit}
      onSubmit={(event) => {
        event.preventDefault();
        once(place);
      }}
    >
      <div class="trade-fields">
        <Direction />
        <PriceField price={price} now={now} />
        <AmountPart {...amount} ticker={token.ticker} held={held} isAda={!isSell} />
        {!isForever && <WaitChoice wait={wait} />}
      </div>
      <Meaning
        token={token}
        price={price.amount}
        amount={amount.amount}
        waitSeconds={isForever ? null : WAITS[wait.value]}
      />
      <WalletPrompt />
      {session.wallet.value !== null && (
        <SubmitButton isBusy={isBusy} kind={side.value}>
          {reviewText(isSell)}
        </SubmitButton>
      )}
      <div class="trade-failure">
        {failure.value !== null && <ErrorBox error={failure.value} />}
      </div>
    </form>
  );
}

function limitOrder(isSell: boolean, amount: bigint, limit: NonNullable<Wanted['limit']>): Wanted {
  return { side: isSell ? 'SELL' : 'BUY', amount, slippage: null, seen: null, limit };
}

const reviewText = (isSell: boolean) => (isSell ? t.trade.reviewSell : t.trade.reviewBuy);

function WaitChoice({ wait }: { readonly wait: Signal<Wait> }) {
  return (
    <ChoiceBar
      class="in-line"
      legend={t.trade.limit.wait}
      options={WAIT_NAMES.map((value) => ({ value, label: t.trade.limit.waits[value] }))}
      value={wait.value}
      choose={(chosen) => {
        wait.value = chosen;
      }}
    />
  );
}

type Typed = ReturnType<typeof useAmount>;

/** ADA for a token, with buttons for steps from the current price. */
function PriceField({ price, now }: { readonly price: Typed; readonly now: bigint | null }) {
  const isSell = side.value === 'sell';
  const sign = isSell ? 1 : -1;
  const stepTo = (percent: number) =>
    now !== null && price.type(typed((now * BigInt(100 + sign * percent)) / 100n));
  return (
    <>
      <AmountField
        label={isSell ? t.trade.limit.minPrice : t.trade.limit.maxPrice}
        unit="ADA"
        value={price.text}
        input={price.type}
        box={price.box}
        problem={price.problem}
        hint={now === null ? '' : t.trade.limit.now({ price: typed(now) })}
      />
      <fieldset class="quick">
        <legend class="unseen">{t.trade.limit.steps}</legend>
        {STEPS.map((percent) => (
          <button key={percent} type="button" class="button" onClick={() => stepTo(percent)}>
            {isSell ? '+' : '−'}
            {percent} %
          </button>
        ))}
      </fieldset>
    </>
  );
}

function typed(price: bigint): string {
  return typedPrice(formatUnits(price, PRICE_DECIMALS));
}

interface MeaningProps extends Pick<FormProps, 'token'> {
  /** A text says that it is none, yet. */
  readonly price: bigint | string;
  readonly amount: bigint | string;
  /** null: no time limit. */
  readonly waitSeconds: number | null;
}

/** In plain words what such an order does, and what becomes of it otherwise. */
function Meaning({ token, price, amount, waitSeconds }: MeaningProps) {
  const { time } = usePage();
  const isSell = side.value === 'sell';
  const [given, got] = isSell ? [token.asset, '.'] : ['.', token.asset];
  if (typeof price === 'string' || typeof amount === 'string') {
    return <p class="limit-words hint">{t.trade.limit.enter}</p>;
  }
  const least = shownOf(minFor(side.value, amount, price), got, token);
  return (
    <p class="limit-words" role="status">
      {t.trade.limit.means({ offered: shownOf(amount, given, token), least })}{' '}
      {waitSeconds === null
        ? t.trade.limit.noEnd
        : t.trade.limit.until({ when: shortMoment(time.seconds.peek() + waitSeconds) })}
    </p>
  );
}
