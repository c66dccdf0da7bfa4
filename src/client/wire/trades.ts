// Made from the schemas of the server by test/client/writeWireTypes.ts: not edited by hand.
import type { TradeRow } from './shapes.ts';

export interface TradesQuery {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
  /** Only trades older than this one. */
  readonly before?: string;
  readonly limit?: number;
}

export type TradesAnswer = readonly TradeRow[];
