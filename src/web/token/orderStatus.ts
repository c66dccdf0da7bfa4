/** States of an order in words (api.md section 2): what it is called here, and what it means. */
import type { ApiOrder } from '../../client/types.ts';

interface StatusText {
  readonly name: string;
  readonly meaning: string;
  /** How it looks: waiting in no block, open, done, over without a trade. */
  readonly look: 'waiting' | 'open' | 'done' | 'over';
}

const TEXTS: Readonly<Record<ApiOrder['status'], StatusText>> = {
  MempoolPending: {
    name: 'Placing',
    meaning: 'Sent, and waiting for a block to take it in. Until then it may still vanish.',
    look: 'waiting',
  },
  Pending: {
    name: 'Open',
    meaning: 'On the chain. It is filled when the price allows it, in the order of arrival.',
    look: 'open',
  },
  MempoolEvaluated: {
    name: 'Filling',
    meaning: 'Its fill was sent and waits for a block. A rollback can still undo that.',
    look: 'waiting',
  },
  Evaluated: {
    name: 'Filled',
    meaning: 'Filled: the tokens or coins were paid out.',
    look: 'done',
  },
  MempoolRefunded: {
    name: 'Returning',
    meaning: 'It is being given back: that was sent and waits for a block.',
    look: 'waiting',
  },
  Refunded: {
    name: 'Returned',
    meaning: 'Ended without a trade; what it offered went back to its owner.',
    look: 'over',
  },
  Dropped: {
    name: 'Dropped',
    meaning: 'Its transaction never came into a block: nothing was spent.',
    look: 'over',
  },
};

const RETURNED: Readonly<Record<'cancelled' | 'expired', StatusText>> = {
  cancelled: {
    name: 'Cancelled',
    meaning: 'Cancelled by its owner; what it offered went back.',
    look: 'over',
  },
  expired: {
    name: 'Expired',
    meaning: 'Not filled in time; what it offered went back, without the fee for that.',
    look: 'over',
  },
};

export function statusText({ status, refundReason }: ApiOrder): StatusText {
  if (status === 'Refunded' && refundReason !== null) return RETURNED[refundReason];
  return TEXTS[status];
}
