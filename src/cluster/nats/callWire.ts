/**
 * The messages of a call between nodes on NATS. A call and its answer are bytes, sent in pieces
 * where they are too long for one message.
 *
 *   caller → node   first piece, `Upcurve-Pieces: n`, to the group of all nodes or to one of them
 *   node → caller   `Upcurve-Taken: <address>` at once; its reply subject takes the other pieces;
 *                   or `Upcurve-Refused: <reason>`, and the call has no effect
 *   node → caller   the answer, each piece with `Upcurve-Pieces: n`, in order
 */
import { headers, type Msg, type MsgHdrs } from './connection.ts';

export const PIECE_BYTES = 512 * 1024;
/** Limit of a call or an answer. The longest is a launch: a 6 MiB form, as base64 in JSON. */
export const MAX_CALL_BYTES = 10 * 1024 * 1024;
export const MAX_PIECES = Math.ceil(MAX_CALL_BYTES / PIECE_BYTES);

/** Why a node refused a call. */
const REFUSALS = ['unable', 'busy', 'too large'] as const;
export type CallRefusal = (typeof REFUSALS)[number];

const PIECES = 'Upcurve-Pieces';
const TAKEN = 'Upcurve-Taken';
const REFUSED = 'Upcurve-Refused';
const NO_RESPONDERS = 503;

export interface CallSubjects {
  /** Any able node answers. */
  readonly any: string;
  /** The node at this address answers. */
  node(address: string): string;
}

export function callSubjects(market: string): CallSubjects {
  return { any: `${market}-calls.any`, node: (address) => `${market}-calls.node.${address}` };
}

export function piecesOf(bytes: Uint8Array): readonly Uint8Array[] {
  const count = Math.max(1, Math.ceil(bytes.length / PIECE_BYTES));
  return Array.from({ length: count }, (_, index) => {
    return bytes.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES);
  });
}

export function piecesHeader(count: number): MsgHdrs {
  return header(PIECES, String(count));
}

export function takenHeader(address: string): MsgHdrs {
  return header(TAKEN, address);
}

export function refusedHeader(reason: CallRefusal): MsgHdrs {
  return header(REFUSED, reason);
}

/** How many pieces the call or answer has; 0: the message is no piece. */
export function piecesIn(message: Msg): number {
  const count = Number(message.headers?.get(PIECES) ?? '');
  return Number.isInteger(count) && count > 0 ? count : 0;
}

/** The address of the node that took the call; empty in other messages. */
export function takerOf(message: Msg): string {
  return message.headers?.get(TAKEN) ?? '';
}

export function refusalOf(message: Msg): CallRefusal | null {
  const said = message.headers?.get(REFUSED) ?? '';
  return REFUSALS.find((reason) => reason === said) ?? null;
}

/** The answer of nats-server where no node listens on the subject. */
export function isUnheard(message: Msg): boolean {
  return message.data.length === 0 && message.headers?.code === NO_RESPONDERS;
}

/** Joins pieces, which arrive in order. */
export class Pieces {
  readonly #count: number;
  readonly #pieces: Uint8Array[] = [];

  constructor(count: number) {
    this.#count = count;
  }

  /** All of them joined; null: some are missing. */
  addPiece(piece: Uint8Array): Uint8Array | null {
    // The client reuses its buffer once the callback has returned.
    this.#pieces.push(Uint8Array.from(piece));
    return this.#pieces.length === this.#count ? Buffer.concat(this.#pieces) : null;
  }
}

function header(name: string, value: string): MsgHdrs {
  const all = headers();
  all.set(name, value);
  return all;
}
