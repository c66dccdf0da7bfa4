/** Orders in the mempool and on the chain in one list, newest first. */
import { useSignal } from '@preact/signals';
import type { TargetedKeyboardEvent } from 'preact';
import { useRef } from 'preact/hooks';
import type { ApiOrder } from '../../client/types.ts';
import { formatRatio } from '../../engine/market/decimal.ts';
import { ErrorBox } from '../components/errorBox.tsx';
import { useFlash } from '../components/flash.ts';
import { More, roomFor, useReach } from '../components/more.tsx';
import { Age } from '../components/numbers.tsx';
import { orderTx, TxLink } from '../components/txLink.tsx';
import { coins, money } from '../fiat.ts';
import { ada, columnPrice, ends, grouped, moment, short } from '../format.ts';
import { t } from '../messages.ts';
import { memo, useMirror, usePage } from '../page.tsx';
import { explainedBy } from '../tooltip.ts';
import { RowFilters, useOwnKey } from './filters.tsx';
import { isPartlyFilled, statusText } from './orderStatus.ts';
import { isFiltered, NO_FILTER, type RowFilter } from './rowFilter.ts';
import { TabPart } from './tabPart.tsx';

/** Shown at first, and added with each press on the button for older ones. */
const PAGE_ROWS = 100;
const MAX_ROWS = 1_000;
const LOVELACE = 1_000_000n;

const COLUMNS = ['side', 'offers', 'gets', 'worst', 'state', 'age'] as const;

export function Orders({ asset }: { readonly asset: string }) {
  const { client } = usePage();
  const filter = useSignal<RowFilter>(NO_FILTER);
  const wanted = useSignal(PAGE_ROWS);
  const ownKey = useOwnKey();
  const key = filter.value.isOwn ? ownKey : null;
  const open = () => client.orders(asset, key === null ? {} : { pkhs: [key] });
  const followed = useMirror('orders', open, [asset, key]).value;
  const mirror = followed?.mirror ?? null;
  const { ledger = [], mempool = [], count: onChain = 0 } = mirror?.state ?? {};
  const known = [...mempool, ...ledger].slice(0, wanted.value);
  const total = mempool.length + onChain;
  const load = async () => {
    if (mirror === null) return;
    reach.all();
    const loaded = () => mirror.state.mempool.length + mirror.state.ledger.length;
    if (loaded() < wanted.value + PAGE_ROWS) await mirror.loadOlder();
    if (loaded() > wanted.value) wanted.value = Math.min(MAX_ROWS, wanted.value + PAGE_ROWS);
  };
  const list = useRef<HTMLOListElement>(null);
  const shown = known.filter((order) => isWithin(order, filter.value));
  const reach = useReach(shown.length);
  return (
    <TabPart
      class="orders"
      title={t.token.orders}
      tools={<RowFilters filter={filter} of={t.token.orders} />}
    >
      <div class="feed-head" aria-hidden="true">
        {COLUMNS.map((column) => (
          <span key={column} class={`col-${column}`}>
            {t.token.orderColumns[column]}
          </span>
        ))}
      </div>
      <Feed list={list} orders={shown} reach={reach} />
      <More
        list={list}
        label={t.token.olderOrders}
        words={shownWords(known.length, total, mempool.length)}
        hasMore={known.length < total && wanted.value < MAX_ROWS}
        load={load}
      />
      {followed?.isLoaded === true && shown.length === 0 && (
        <p class="empty">
          {isFiltered(filter.value) ? t.token.noFilteredOrders : t.token.noOrders}
        </p>
      )}
      {followed?.error ? <ErrorBox error={followed.error} /> : null}
    </TabPart>
  );
}

/** By the coins that the order offers or asks, on either side. */
function isWithin(order: ApiOrder, { side, minLovelace }: RowFilter): boolean {
  const isBuy = order.from === '.';
  const lovelace = BigInt(isBuy ? order.fromAmount : order.toAmount);
  return (side === 'all' || (side === 'buy') === isBuy) && lovelace >= minLovelace;
}

interface FeedProps {
  readonly list: { current: HTMLOListElement | null };
  readonly orders: readonly ApiOrder[];
  readonly reach: ReturnType<typeof useReach>;
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/** One tab stop for all rows; arrow keys move between them. */
function Feed({ list, orders, reach }: FeedProps) {
  const focused = useSignal<string | null>(null);
  const isThere = orders.some(({ entityId }) => entityId === focused.value);
  const stop = isThere ? focused.value : (orders[0]?.entityId ?? null);
  const walk = (event: TargetedKeyboardEvent<HTMLOListElement>) => {
    const step = STEPS[event.key];
    const chips: (Element | null)[] = Array.from(event.currentTarget.querySelectorAll('.chip'));
    const next = chips[chips.indexOf(document.activeElement) + (step ?? 0)];
    if (step === undefined || !(next instanceof HTMLElement)) return;
    event.preventDefault();
    next.focus();
  };
  return (
    <ol
      class="feed"
      aria-label={t.token.ordersNewestFirst}
      style={{ '--rows': roomFor(orders.length) }}
      ref={list}
      onKeyDown={walk}
      onScroll={reach.onScroll}
    >
      {orders.slice(0, reach.rows).map((order) => (
        <OrderRow
          key={order.entityId}
          order={order}
          isStop={order.entityId === stop}
          focused={focused}
        />
      ))}
    </ol>
  );
}

interface OrderRowProps {
  readonly order: ApiOrder;
  readonly isStop: boolean;
  readonly focused: { value: string | null };
}

const OrderRow = memo(({ order, isStop, focused }: OrderRowProps) => {
  const element = useRef<HTMLLIElement>(null);
  const isBuy = order.from === '.';
  const { name, look } = statusText(order);
  useFlash(element, order.status, () => 'same');
  const { onFocus, ...explained } = explainedBy(() => explanationOf(order));
  return (
    <li class="order" data-key={order.entityId} ref={element}>
      <span class={`side-word ${isBuy ? 'up' : 'down'}`}>{isBuy ? t.token.buy : t.token.sell}</span>
      <span class="num">{isBuy ? coins(order.fromAmount) : short(order.fromAmount)}</span>
      <span class="num">{look === 'over' ? '–' : received(order, isBuy)}</span>
      <span class="num dim col-worst">
        {isAnyPrice(order)
          ? t.token.anyPrice
          : money(worstOf(order, isBuy), (text) => columnPrice(text, 4))}
      </span>
      <button
        type="button"
        class="chip"
        data-look={look}
        tabIndex={isStop ? 0 : -1}
        {...explained}
        onFocus={(event) => {
          focused.value = order.entityId;
          onFocus(event);
        }}
      >
        {name}
      </button>
      <span class="num dim">
        <TxLink {...orderTx(order)} tabIndex={isStop ? 0 : -1}>
          <Age since={order.timestamp} />
        </TxLink>
      </span>
    </li>
  );
});

/** While an order is open its amount is the least it accepts, or what parts of it have brought. */
function received(order: ApiOrder, isBuy: boolean): string {
  const { toAmount, status } = order;
  const amount = isBuy ? short(toAmount) : coins(toAmount);
  if (isPartlyFilled(order)) return amount;
  return status === 'Evaluated' || status === 'MempoolEvaluated' ? amount : `≥ ${amount}`;
}

/** Whether the order accepts any amount, from one unit on, because the user named no slippage. */
function isAnyPrice({ worstPrice, fromAmount }: ApiOrder): boolean {
  const { numerator, denominator } = worstPrice;
  return BigInt(fromAmount) * BigInt(numerator) <= BigInt(denominator);
}

/** ADA for a token, exact; the order holds output per input. */
function worstOf({ worstPrice }: ApiOrder, isBuy: boolean): string {
  const numerator = BigInt(worstPrice.numerator);
  const denominator = BigInt(worstPrice.denominator);
  const [coins, tokens] = isBuy ? [denominator, numerator] : [numerator, denominator];
  return tokens === 0n ? '0' : formatRatio(coins, tokens * LOVELACE);
}

/** With the executed part of it, if it was executed in part. */
function meaningOf(order: ApiOrder): string {
  const { meaning } = statusText(order);
  if (!isPartlyFilled(order)) return meaning;
  const { from, to, filledAmount, toAmount } = order;
  const shown = (amount: string, asset: string) =>
    asset === '.' ? `${ada(amount)} ADA` : short(amount);
  const amounts = { offered: shown(filledAmount, from), got: shown(toAmount, to) };
  return `${meaning} ${t.orders.soFar(amounts)}.`;
}

function shownWords(known: number, total: number, waiting: number): string {
  const counts = { shown: grouped(String(known)), all: grouped(String(total)) };
  return waiting === 0
    ? t.token.ordersShown(counts)
    : t.token.ordersWaiting({ ...counts, waiting });
}

function explanationOf(order: ApiOrder): string {
  const meaning = meaningOf(order);
  const { timestamp, evaluatedAt, entityId, pkh } = order;
  const said = { meaning, placed: moment(timestamp), order: ends(entityId), pkh: ends(pkh) };
  if (evaluatedAt === null) return t.token.orderExplained(said);
  return t.token.orderEnded({ ...said, ended: moment(evaluatedAt) });
}
