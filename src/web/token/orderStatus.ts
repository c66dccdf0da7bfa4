/** States of an order (protocol.md section 2): the name, meaning and look of each. */
import type { ApiOrder } from '../../client/types.ts';
import { t } from '../messages.ts';

interface StatusText {
  readonly name: string;
  readonly meaning: string;
  /** Waiting in no block, open, done, over without a trade. */
  readonly look: 'waiting' | 'open' | 'done' | 'over';
}

const LOOKS: Readonly<Record<ApiOrder['status'], StatusText['look']>> = {
  MempoolPending: 'waiting',
  Pending: 'open',
  MempoolEvaluated: 'waiting',
  Evaluated: 'done',
  MempoolRefunded: 'waiting',
  Refunded: 'over',
  Dropped: 'over',
};

export function statusText({ status, refundReason }: ApiOrder): StatusText {
  const words = t.states[status === 'Refunded' ? (refundReason ?? status) : status];
  return { ...words, look: LOOKS[status] };
}

/** Parts of it were executed, and it waits for more. */
export function isPartlyFilled({
  status,
  filledAmount,
}: Pick<ApiOrder, 'status' | 'filledAmount'>): boolean {
  return status === 'Pending' && filledAmount !== '0';
}
