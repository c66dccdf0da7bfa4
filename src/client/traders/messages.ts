/** What main thread and traders' thread tell each other: plain data. */
import type { TraderConfig } from './config.ts';

/** Given to the thread when it starts. */
export interface Orders {
  readonly baseUrl: string;
  readonly config: TraderConfig;
  readonly pace: number;
  /** Of everything that is left to chance. */
  readonly seed: number;
}

export type Report =
  | {
      readonly kind: 'acted';
      readonly trader: string;
      readonly action: string;
      readonly txHash: string;
      readonly seconds: number;
    }
  | {
      readonly kind: 'refused';
      readonly trader: string;
      readonly action: string;
      readonly cause: string;
      readonly message: string;
    }
  /** A fault of the program in one turn; the traders go on. */
  | { readonly kind: 'fault'; readonly message: string }
  | { readonly kind: 'stopped' };

/** The one order: end what is in flight and stop. */
export type Command = 'stop';
