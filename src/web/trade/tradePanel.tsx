/**
 * Buying and selling on the page of a token: the inputs, the live quote, a last look, and then the
 * order's way from the mempool to its end.
 */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { LiquidityPoolInfo, QuoteQuery } from '../../client/types.ts';
import { SubmitButton, useOnce } from '../components/button.tsx';
import { Choices } from '../components/choices.tsx';
import { ErrorBox } from '../components/errorBox.tsx';
import { Panel } from '../components/panel.tsx';
import { ada, short } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { useFreeKeys } from '../shell/keys.ts';
import { amountHeld } from '../wallet/connectedWallet.ts';
import { OwnOrders } from '../wallet/orders.tsx';
import { WalletPrompt } from '../wallet/prompt.tsx';
import { sessionOf } from '../wallet/session.ts';
import { ADA_DECIMALS, plainAmount, shareOf, shownAda } from './amount.ts';
import { dragged, type EnteredTrade, enteredTrade } from './enteredTrade.ts';
import { LimitForm } from './limitForm.tsx';
import { LockButton } from './lock.tsx';
import { OneClick } from './oneClick.tsx';
import { placeAfterLook } from './placing.tsx';
import { QuoteBox, QuoteDetails, useQuoteView } from './quoteBox.tsx';
import { QuoteFeed } from './quoteFeed.ts';
import { impactOf, shownOf } from './quoteTerms.ts';
import { buySizes, side } from './sizes.ts';
import { slippage, slippageOf } from './slippage.ts';
import { type BuyBy, SHARES, TradeFields } from './tradeFields.tsx';
import { useAmount } from './useAmount.ts';

const KINDS = ['market', 'limit'] as const;

export function TradePanel({ pool }: { readonly pool: LiquidityPoolInfo }) {
  const { asset, ticker } = pool.info;
  const token = useMemo(() => ({ asset, ticker }), [asset, ticker]);
  const context = usePage();
  const session = sessionOf(context);
  const held = session.balance.value;
  const [coins, tokens] = [held?.lovelace ?? 0n, amountHeld(held, asset)];
  const kind = useSignal<(typeof KINDS)[number]>('market');
  // There an order on the curve cannot be cancelled while it waits: nothing to rest on.
  const canWait = context.network.value?.name !== 'mainnet' || pool.pool.cpmmPoolId !== null;
  const form = { pool, token, coins, tokens };
  const balances = held === null ? '' : `${ada(coins)} · ${short(tokens)} ${ticker}`;
  const exact = `${shownAda(coins)} · ${shownOf(tokens, asset, token)}`;
  return (
    <Panel
      class="trade"
      title={t.trade.title}
      side={
        <>
          {canWait && (
            <Choices
              name={t.trade.kind}
              options={KINDS.map((value) => ({ value, label: t.trade.kinds[value] }))}
              value={kind.value}
              choose={(chosen) => {
                kind.value = chosen;
              }}
            />
          )}
          <span class="side held" title={balances && exact}>
            {balances}
          </span>
        </>
      }
    >
      {canWait && kind.value === 'limit' ? <LimitForm {...form} /> : <MarketForm {...form} />}
      {session.wallet.value !== null && (
        <>
          <OneClick token={token} />
          <div class="inside own">
            <h3>{t.trade.yourOrders}</h3>
            <OwnOrders asset={asset} />
          </div>
        </>
      )}
      <LockButton token={token} />
    </Panel>
  );
}

export interface FormProps {
  readonly pool: LiquidityPoolInfo;
  readonly token: { readonly asset: string; readonly ticker: string };
  readonly coins: bigint;
  readonly tokens: bigint;
}

function MarketForm({ pool, token, coins, tokens }: FormProps) {
  const context = usePage();
  const session = sessionOf(context);
  const buyBy = useSignal<BuyBy>('BUY');
  const isSell = side.value === 'sell';
  const { kindNow, typed } = useTyped(buyBy);
  const kind = kindNow();
  const allowed = slippageOf(slippage.value);
  useEnteredTrade(kind, typed);
  const state = useQuotes(token.asset, kind, typed.amount).state.value;
  const failure = useSignal<unknown>(null);
  const { isBusy, once } = useOnce();
  const place = async () => {
    failure.value = null;
    const amount = typed.checked();
    if (amount === null || allowed === 'notAPercentage') return;
    const isQuoted = state.kind === 'quote' && kindNow() === kind && amount === typed.amount;
    const seen = isQuoted ? state.quote : null;
    try {
      const wanted = { side: kindNow(), amount, slippage: allowed, seen };
      if (await placeAfterLook(context, token, wanted)) typed.clear();
    } catch (error) {
      failure.value = error;
    }
  };
  const supply = context.network.value?.supply ?? null;
  const cap = BigInt(pool.metrics.marketCap);
  const view = useQuoteView({
    ...{ state, token, side: kind, amount: typed.amount },
    slippage: allowed === 'notAPercentage' ? null : allowed,
    impact: (quote) => (supply === null ? null : impactOf(quote, cap, supply)),
  });
  const held = session.balance.value === null ? null : isSell ? tokens : coins;
  const type = (now: string) => {
    failure.value = null;
    typed.type(now);
  };
  const isConnected = session.wallet.value !== null;
  useTradeKeys({ kindNow, tokens, type, review: () => isConnected && once(place) });
  const submit = (event: Event) => {
    event.preventDefault();
    once(place);
  };
  return (
    <form class="inside trade-form" noValidate aria-label={t.trade.title} onSubmit={submit}>
      <TradeFields {...typed} type={type} ticker={token.ticker} buyBy={buyBy} held={held} />
      <QuoteBox view={view} />
      <WalletPrompt />
      {session.wallet.value !== null && (
        <SubmitButton isBusy={isBusy} kind={isSell ? 'sell' : 'buy'}>
          {isSell ? t.trade.reviewSell : t.trade.reviewBuy}
        </SubmitButton>
      )}
      <div class="trade-failure">
        {failure.value !== null && <ErrorBox error={failure.value} />}
      </div>
      <QuoteDetails view={view} />
    </form>
  );
}

/** The typed amount and its kind: read again for each key, as keys outrun what is drawn. */
function useTyped(buyBy: Signal<BuyBy>) {
  const kindNow = (): EnteredTrade['kind'] => (side.value === 'sell' ? 'SELL' : buyBy.value);
  const typed = useAmount(() => {
    const of = kindNow();
    return { of, decimals: of === 'BUY' ? ADA_DECIMALS : 0 };
  });
  return { kindNow, typed };
}

interface TradeKeys {
  /** Keys may come faster than the form is drawn. */
  readonly kindNow: () => EnteredTrade['kind'];
  readonly tokens: bigint;
  readonly type: (text: string) => void;
  readonly review: () => void;
}

/** Sides, the amounts that have buttons, and Enter where no control has the focus. */
function useTradeKeys({ kindNow, tokens, type, review }: TradeKeys): void {
  useFreeKeys(({ key, target, repeat }) => {
    const [place, kind] = [Number(key) - 1, kindNow()];
    const isBare =
      !(target instanceof HTMLElement) || target.closest('a, button, [tabindex="0"]') === null;
    if (key === 'b') side.value = 'buy';
    else if (key === 's') side.value = 'sell';
    else if (key === 'Enter' && isBare && !repeat) review();
    else if (kind === 'BUY' && buySizes.value[place] !== undefined) type(buySizes.value[place]);
    else if (kind === 'SELL' && SHARES[place] !== undefined) {
      type(plainAmount(shareOf(tokens, SHARES[place]), 0));
    }
  });
}

/** The picture of the curve shows the amount, and changes it. */
function useEnteredTrade(
  kind: EnteredTrade['kind'],
  { amount, type }: ReturnType<typeof useAmount>,
): void {
  const exact = typeof amount === 'bigint' ? amount : null;
  useEffect(() => {
    enteredTrade.value = { kind, amount: exact };
  }, [kind, exact]);
  useEffect(
    () => () => {
      enteredTrade.value = null;
    },
    [],
  );
  const taken = dragged.value;
  useEffect(() => {
    if (taken === null) return;
    dragged.value = null;
    type(taken === 0n ? '' : plainAmount(taken, kind === 'BUY' ? ADA_DECIMALS : 0));
  }, [taken]);
}

/** The quote for the typed amount; `amount` is a string while the text is not an amount. */
function useQuotes(assetId: string, kind: QuoteQuery['side'], amount: bigint | string): QuoteFeed {
  const context = usePage();
  const feed = useMemo(() => new QuoteFeed(context), [assetId]);
  useEffect(() => () => feed.close(), [feed]);
  const exact = String(amount);
  const isAmount = typeof amount === 'bigint';
  useEffect(() => {
    // Whatever the slippage: the least output is computed here.
    const query = { assetId, side: kind, amount: exact, slippage: 'infinity' } as const;
    feed.want(isAmount ? query : null);
  }, [feed, kind, exact, isAmount]);
  return feed;
}
