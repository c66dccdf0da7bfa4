/** What is wrong with a node that serves nevertheless; readiness lists it as `reasons`. */
type TroubleCode =
  | 'LOG_NOT_WRITTEN'
  | 'STATE_NOT_WRITTEN'
  | 'STATE_DAMAGED'
  | 'POOLS_QUARANTINED'
  | 'EXECUTOR_MAY_NOT_TRADE'
  | 'STEPS_STUCK';

export interface Trouble {
  readonly code: TroubleCode;
  /** Cause, and what to do; for a person. */
  readonly message: string;
}

export class Troubles {
  readonly #messages = new Map<TroubleCode, string>();

  set(code: TroubleCode, message: string): void {
    this.#messages.set(code, message);
  }

  clear(code: TroubleCode): void {
    this.#messages.delete(code);
  }

  list(): Trouble[] {
    return [...this.#messages].map(([code, message]) => ({ code, message }));
  }
}
