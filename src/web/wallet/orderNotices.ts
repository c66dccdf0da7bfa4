/** The outcomes of the user's orders, as notices: one per order, from the mempool to its end. */
import type { ApiOrder } from '../../client/types.ts';
import { explorerLink, orderTx } from '../components/txLink.tsx';
import type { Notice, PageContext } from '../context.ts';
import { t } from '../messages.ts';
import { routeHash } from '../route.ts';
import { shownOf } from '../trade/quoteTerms.ts';
import { tickersOf } from './tickers.ts';

const KINDS: Readonly<Record<ApiOrder['status'], Notice['kind']>> = {
  MempoolPending: 'info',
  Pending: 'info',
  MempoolEvaluated: 'info',
  Evaluated: 'good',
  MempoolRefunded: 'info',
  Refunded: 'info',
  Dropped: 'bad',
};
const ENDED: readonly ApiOrder['status'][] = ['Evaluated', 'Refunded', 'Dropped', 'Pending'];

/** Arguments of `notify`. */
export function orderNotice(
  context: PageContext,
  order: ApiOrder,
): Parameters<PageContext['notify']> {
  const { from, to, fromAmount, toAmount, status, entityId } = order;
  const { txHash, isInBlock } = orderTx(order);
  const explored = isInBlock ? explorerLink(txHash) : null;
  const isBuy = from === '.';
  const asset = isBuy ? to : from;
  const token = { asset, ticker: tickersOf(context).of(asset) };
  const text = t.notices[status]({
    what: isBuy
      ? t.notices.buyOf({ ticker: token.ticker })
      : t.notices.sellOf({ ticker: token.ticker }),
    offered: shownOf(fromAmount, from, token),
    gets: shownOf(toAmount, to, token),
  });
  const links = [
    { href: routeHash({ at: 'token', asset }), label: token.ticker },
    ...(explored === null ? [] : [{ href: explored, label: t.notices.transaction }]),
  ];
  return [KINDS[status], text, { key: entityId, links, isWaiting: !ENDED.includes(status) }];
}
