/** A trader's view when it decides, and its possible actions. Plain data, read over the API. */

import type { OrderRequest } from '../client/trade/tradingClient.ts';
import type { AssetId } from '../engine/market/asset.ts';
import type { Mood } from './mood.ts';
import type { Style } from './styles.ts';

/** A token that can be traded. */
export interface Token {
  readonly asset: AssetId;
  readonly sinceMs: number;
  /** null until it is known. */
  readonly marketCapLovelace: bigint | null;
  readonly venue: 'CURVE' | 'AMM';
}

export interface Lock {
  readonly id: string;
  readonly unlockMs: number;
}

export interface View {
  readonly nowMs: number;
  /** The spendable balance of the own wallet. */
  readonly lovelace: bigint;
  readonly tokens: ReadonlyMap<AssetId, bigint>;
  readonly outputs: number;
  readonly market: readonly Token[];
  readonly locks: readonly Lock[];
  /** Addresses of other traders. */
  readonly others: readonly string[];
  /** Whether the market wants another token. */
  readonly launchDue: boolean;
  readonly style: Style;
  /** The crowd's favourite; null: nothing. */
  readonly mood: Pick<Mood, 'favourite' | 'direction'> | null;
}

export interface TokenIdea {
  readonly name: string;
  readonly ticker: string;
  readonly description: string;
  readonly website?: string;
  readonly twitter?: string;
  readonly telegram?: string;
}

export type Action =
  | {
      readonly kind: 'launch';
      readonly idea: TokenIdea;
      readonly initialLovelace: bigint;
      readonly launchType: 'DEFAULT' | 'HYPED';
    }
  | ({
      readonly kind: 'order';
      readonly asset: AssetId;
      /** Changes its mind at once. */
      readonly thenCancel: boolean;
    } & Pick<
      OrderRequest,
      'side' | 'amount' | 'slippage' | 'maxInputLovelace' | 'minOutput' | 'waitFor'
    >)
  | {
      readonly kind: 'lock';
      readonly asset: AssetId;
      readonly amount: bigint;
      readonly lockMs: number;
      readonly stages: number;
    }
  | { readonly kind: 'withdraw'; readonly id: string }
  | {
      readonly kind: 'transfer';
      readonly asset: AssetId;
      readonly amount: bigint;
      readonly to: string;
    }
  /** Puts many small outputs together. */
  | { readonly kind: 'consolidate' }
  | { readonly kind: 'rest'; readonly why: string };
