/**
 * "I cannot go on because …": the only list of the node's obstacles, and of faults while it serves.
 * Readiness, metrics, the page and refused submissions read it.
 *
 * A part that hears of a problem calls `set`, and `clear` once it is over. A part that can be asked
 * at any time registers with `watch`.
 */
import { type Failure, notNow } from './errors.ts';

/** Whether submissions are refused with NOT_READY as long as the reason holds. */
const STOPS_SUBMITS = {
  LOG_NOT_WRITTEN: true,
  STATE_NOT_WRITTEN: true,
  FOLD_STOPPED: true,
  DEVNET_NOT_WRITTEN: true,
  NODE_AWAY: true,
  NODE_BEHIND: true,
  CHAIN_NOT_FOLLOWED: true,
  NATS_AWAY: true,
  NO_LEADER: true,
  LOG_DIVERGED: true,
  LOG_COPY_BEHIND: false,
  STATE_DAMAGED: false,
  KUPO_AWAY: false,
  PARAMETERS_UNKNOWN: false,
  SCRIPTS_NOT_EVALUATED: false,
  POOLS_QUARANTINED: false,
  EXECUTOR_MAY_NOT_TRADE: false,
  STEPS_STUCK: false,
  NO_BLOCKS: false,
  MAY_NOT_LEAD: false,
  SNAPSHOT_NOT_WRITTEN: false,
  WEBHOOKS_NOT_SAVED: false,
  API_KEYS_NOT_READ: false,
} as const;

export type ReasonCode = keyof typeof STOPS_SUBMITS;

export const REASON_CODES: readonly string[] = Object.keys(STOPS_SUBMITS);

export interface Reason {
  readonly code: ReasonCode;
  /** Cause, and what to do; for a person. */
  readonly message: string;
}

export class Reasons {
  readonly #messages = new Map<ReasonCode, string>();
  readonly #watched: (readonly [ReasonCode, () => string | null])[] = [];

  set(code: ReasonCode, message: string): void {
    this.#messages.set(code, message);
  }

  clear(code: ReasonCode): void {
    this.#messages.delete(code);
  }

  /** `ask` is called whenever the list is read; null: the reason does not hold. */
  watch(code: ReasonCode, ask: () => string | null): void {
    this.#watched.push([code, ask]);
  }

  list(): Reason[] {
    const watched = this.#watched.flatMap(([code, ask]) => {
      const message = ask();
      return message === null ? [] : [{ code, message }];
    });
    return [...Array.from(this.#messages, ([code, message]) => ({ code, message })), ...watched];
  }

  /** Why nothing is submitted now; null: submissions are accepted. */
  refusal(): Failure | null {
    const reason = this.list().find(({ code }) => STOPS_SUBMITS[code]);
    if (reason === undefined) return null;
    // Paths and addresses of this machine are for its operator.
    return notNow(`nothing can be submitted now (${reason.code}): try again in a moment`);
  }
}
