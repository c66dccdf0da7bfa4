/** Messages between the main thread and the traders' thread: plain data. */
import type { TraderConfig } from './config.ts';

/** Passed to the thread when it starts. */
export interface ThreadOptions {
  readonly baseUrl: string;
  readonly config: TraderConfig;
  readonly pace: number;
  /** Seed of the random generator. */
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
  /** A fault of the program in one turn; the traders continue. */
  | { readonly kind: 'fault'; readonly message: string };

export interface CrowdCalls {
  /** Ends the turns in flight. */
  stop(): Promise<void>;
}
