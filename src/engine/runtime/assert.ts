/** Errors that this program throws. Browsers load this too. */

/** A programmer's error: the message says which assumption broke. Never for bad input. */
export function assert(condition: unknown, assumption: string): asserts condition {
  if (!condition) throw new Error(`assumption broken: ${assumption}`);
}

/** Kinds of thrown errors that a caller tells apart. */
export type FaultKind =
  /** The content of a file in DATA_DIR differs from the content that this program wrote. */
  | 'damagedFile'
  /** The process was asked to stop while it started. */
  | 'interrupted'
  /** The log does not hold the entries any more that a rebuild needs. */
  | 'logGone'
  /** Another writer was at work when the log was to begin again. */
  | 'logRestartRefused'
  /** Bytes are no CBOR, or not the expected kind. */
  | 'malformedCbor'
  /** The Cardano node gives no answer now: the request may be repeated. */
  | 'nodeSilent'
  /** NATS gives no answer now: the request may be repeated. */
  | 'natsSilent'
  /** A devnet's file holds a chain with other genesis outputs. */
  | 'otherGenesis'
  /** The state file was written by a program whose rows mean something else. */
  | 'otherStateVersion'
  /** Two things that were to be used together belong to different markets. */
  | 'otherMarket'
  /** Settings, or stored data, do not allow this node to start. Nothing was changed. */
  | 'startRefused'
  /** NATS has no such stream. */
  | 'streamMissing'
  /** A thread of this program ended before it answered, or was stopped. */
  | 'threadEnded'
  /** An entry of the log cannot be applied to the state before it. */
  | 'unfitEntry'
  /** The log contains a message that is no entry. */
  | 'unreadableEntry'
  /** The Cardano node sent what Ogmios would not write. */
  | 'unreadableMessage'
  /** Another process wrote to the log, or this one no longer leads. */
  | 'writerConflict';

/** Thrown where a caller must know what happened; `message` says it to a person. */
export class Fault extends Error {
  readonly kind: FaultKind;

  constructor(kind: FaultKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

export function isFault(error: unknown, ...kinds: readonly FaultKind[]): error is Fault {
  return error instanceof Fault && kinds.includes(error.kind);
}
