/**
 * A transaction: a link to the explorer of the network. Where there is none, as on a devnet, its id
 * is copied: no link is dead.
 */
import type { ComponentChildren } from 'preact';
import type { ApiOrder } from '../../client/types.ts';
import { ends } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { copied } from './copied.ts';

/** Up to the id of a transaction; empty: there is none. */
const EXPLORER = document.documentElement.dataset.explorer ?? '';

/** null: this network has no explorer. */
export function explorerLink(txHash: string): string | null {
  return EXPLORER === '' ? null : EXPLORER + txHash;
}

interface OrderTx {
  readonly txHash: string;
  readonly isInBlock: boolean;
  readonly what: string;
}

/**
 * The newest transaction of an order that is in a block; a pending transaction is in no explorer
 * yet.
 */
export function orderTx(order: ApiOrder): OrderTx {
  const { status, evaluatedTransactionId: ended } = order;
  const isOver = status === 'Evaluated' || status === 'Refunded';
  if (isOver && ended !== null) return { txHash: ended, isInBlock: true, what: t.notices.txEnded };
  return placingTx(order);
}

export function placingTx({ status, pendingTransactionId: txHash }: ApiOrder): OrderTx {
  const isInBlock = status !== 'MempoolPending' && status !== 'Dropped';
  return { txHash, isInBlock, what: t.notices.txPlaced };
}

interface TxLinkProps {
  readonly txHash: string;
  readonly isInBlock?: boolean;
  /** The transaction's effect, for screen readers and on hover. */
  readonly what: string;
  readonly tabIndex?: number;
  readonly children: ComponentChildren;
}

export function TxLink({ txHash, isInBlock = true, what, tabIndex, children }: TxLinkProps) {
  const { notify } = usePage();
  const href = isInBlock ? explorerLink(txHash) : null;
  const shared = { class: 'tx-link', tabIndex, title: `${what}: ${ends(txHash, 8)}` };
  const content = (
    <>
      <span class="unseen">{what} </span>
      {children}
    </>
  );
  if (href !== null) {
    return (
      <a {...shared} href={href} target="_blank" rel="noopener noreferrer">
        {content}
      </a>
    );
  }
  const copy = async () => {
    const isCopied = await copied(txHash);
    // A browser may refuse; then it can be copied by hand.
    notify(isCopied ? 'good' : 'info', isCopied ? t.notices.txCopied : txHash);
  };
  return (
    <button type="button" {...shared} onClick={copy}>
      {content}
    </button>
  );
}
