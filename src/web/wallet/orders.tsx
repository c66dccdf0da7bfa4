/** A wallet's orders, of one token or of all, with the actions on the open ones. */
import type { ApiOrder } from '../../client/types.ts';
import { Button } from '../components/button.tsx';
import { navigationNow } from '../components/dialog.tsx';
import { Age } from '../components/numbers.tsx';
import { orderTx, placingTx, TxLink } from '../components/txLink.tsx';
import type { PageContext } from '../context.ts';
import { errorText } from '../errorText.ts';
import { dollars, money } from '../fiat.ts';
import { ada, columnPrice, localized, moment, shortMoment } from '../format.ts';
import { t } from '../messages.ts';
import { memo, usePage } from '../page.tsx';
import { isPartlyFilled, statusText } from '../token/orderStatus.ts';
import { explainedBy } from '../tooltip.ts';
import { shownOf, type Token } from '../trade/quoteTerms.ts';
import { askToSign, sayAndFollow } from '../trade/review.tsx';
import { executedPrice } from './orderPrice.ts';
import { OrderSteps } from './orderSteps.tsx';
import { isOpen, sessionOf } from './session.ts';
import { tickersOf } from './tickers.ts';

const MAX_ROWS = 50;
const PRICE_DIGITS = 4;
const SPACE = '\u00a0';

interface OwnOrdersProps {
  /** null: of all tokens. */
  readonly asset: string | null;
  readonly which?: 'all' | 'open' | 'ended';
}

export function OwnOrders({ asset, which = 'all' }: OwnOrdersProps) {
  const context = usePage();
  const { orders: all, isLoaded } = sessionOf(context).orders.value;
  const tickers = tickersOf(context);
  // A row's text depends on the tickers too.
  const { learned } = tickers;
  const mine = all.filter(
    (order) =>
      (asset === null || order.from === asset || order.to === asset) &&
      (which === 'all' || isOpen(order) === (which === 'open')),
  );
  const none = isLoaded ? t.orders.none[which] : t.orders.loading;
  return (
    <>
      <ol class="own-orders">
        {mine.slice(0, MAX_ROWS).map((order) => (
          <OwnOrder
            key={order.entityId}
            order={order}
            ticker={tickers.of(assetOf(order))}
            isNamed={asset === null}
            learned={learned.value}
          />
        ))}
      </ol>
      {mine.length === 0 && <p class="small dim own-note">{none}</p>}
    </>
  );
}

interface OwnOrderProps {
  readonly order: ApiOrder;
  readonly ticker: string;
  /** Whether its token is said. */
  readonly isNamed: boolean;
  readonly learned: number;
}

const OwnOrder = memo(({ order, ticker, isNamed }: OwnOrderProps) => {
  const context = usePage();
  const token = { asset: assetOf(order), ticker };
  const isBuy = order.from === '.';
  const kind = isBuy ? t.trade.buy : t.trade.sell;
  const side = isNamed ? `${kind} ${ticker}` : kind;
  const terms = termsOf(order, token);
  const { name, look } = statusText(order);
  const price = executedPrice(order);
  return (
    <li data-key={order.entityId} data-status={order.status}>
      <span class={`own-side ${isBuy ? 'up' : 'down'}`}>{side}</span>
      <span class="own-terms">
        {terms}
        <span class="own-time small dim">
          <TxLink {...placingTx(order)}>
            <time title={moment(order.timestamp)}>{shortMoment(order.timestamp)}</time>
          </TxLink>
          {' · '}
          {order.evaluatedAt === null ? (
            <Age since={order.timestamp} hasAgo />
          ) : (
            <TxLink {...orderTx(order)}>
              {t.orders.ended({ when: shortMoment(order.evaluatedAt) })}
            </TxLink>
          )}
        </span>
        {price !== null && (
          <span
            class="own-price small dim"
            title={t.orders.executedMeans({ price: localized(price) })}
          >
            {t.orders.executedAt({ price: priceText(price), fee: ada(order.feeLovelace) })}
          </span>
        )}
        {isOpen(order) && <OrderSteps order={order} />}
      </span>
      <button
        type="button"
        class="chip"
        data-look={look}
        {...explainedBy(() => explanationOf(order))}
      >
        {name}
      </button>
      {order.status === 'Pending' && (
        <Button
          describe={t.orders.cancelOne({ side, terms })}
          run={() => cancelOrder(context, order, token)}
        >
          {t.orders.cancel}
        </Button>
      )}
    </li>
  );
});

function priceText(price: string): string {
  const text = money(price, (decimal) => columnPrice(decimal, PRICE_DIGITS));
  return dollars.value === null ? `${text}${SPACE}₳` : text;
}

function termsOf(order: ApiOrder, token: Token): string {
  const { status, from, fromAmount, to, toAmount } = order;
  const offered = shownOf(fromAmount, from, token);
  if (isPartlyFilled(order)) return t.orders.soFar({ offered, got: shownOf(toAmount, to, token) });
  if (status === 'Evaluated') return `${offered} → ${shownOf(toAmount, to, token)}`;
  if (toAmount === '0') return offered;
  return t.orders.atLeast({ offered, least: shownOf(toAmount, to, token) });
}

function explanationOf(order: ApiOrder): string {
  const { meaning } = statusText(order);
  const isRefunded = isOpen(order) && order.expiresAt > 0;
  const placed = moment(order.timestamp);
  if (!isRefunded) return t.orders.explained({ meaning, placed });
  return t.orders.explainedUntil({ meaning, placed, until: moment(order.expiresAt / 1000) });
}

function assetOf({ from, to }: ApiOrder): string {
  return from === '.' ? to : from;
}

async function cancelOrder(context: PageContext, order: ApiOrder, token: Token): Promise<void> {
  const navigation = navigationNow();
  try {
    const prepared = await sessionOf(context).trading().prepareCancel(order.entityId);
    await askToSign(context, {
      title: order.from === '.' ? t.orders.cancelBuy : t.orders.cancelSell,
      above: <p>{t.orders.cancelMeans({ terms: termsOf(order, token) })}</p>,
      ...{ prepared, token, navigation },
      goes: t.sign.goesTo,
      words: t.orders.cancelWords,
      confirm: t.orders.signCancel,
      leave: t.orders.keep,
      sent: sayAndFollow(context, t.orders.cancelSent),
    });
  } catch (error) {
    context.notify('bad', errorText(error));
  }
}
