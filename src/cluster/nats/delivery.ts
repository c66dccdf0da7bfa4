/** A message as a consumer of a stream delivers it, read from its reply subject. */
import type { Msg } from './connection.ts';

export interface Delivery {
  /** In the stream. */
  readonly seq: number;
  /** In this consumer, from 1 without gaps. */
  readonly consumerSeq: number;
  /** How many are left in the stream after it. */
  readonly pending: number;
}

/** `$JS.ACK.<stream>.<consumer>.<delivered>.<seq>.<consumer seq>.<time>.<pending>`, or with two
 * more tokens (domain, account) after `ACK` and one at the end. null for anything else. */
export function deliveryOf({ reply = '' }: Msg): Delivery | null {
  if (!reply.startsWith('$JS.ACK.')) return null;
  const tokens = reply.split('.');
  const skip = tokens.length >= 11 ? 2 : 0;
  const [seq, consumerSeq, , pending] = tokens.slice(5 + skip).map(Number);
  if (seq === undefined || consumerSeq === undefined || pending === undefined) return null;
  return { seq, consumerSeq, pending };
}
