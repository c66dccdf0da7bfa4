/**
 * What every part of the page gets: components through `usePage`, older parts as an argument. Those
 * are mounted into an empty container and return a function that unmounts them. Every stylesheet
 * under `src/web` is part of the document; controls and colours are those of `style/base.css`.
 */
import type { ReadonlySignal, Signal } from '@preact/signals';
import type { Client } from '../client/index.ts';
import type { LiquidityPoolInfo } from '../client/types.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import type { MarketTime } from './marketTime.ts';
import type { PageRoute } from './route.ts';

/** `none`: a server without a chain, which can be watched and not traded on. */
export interface Network {
  readonly name: 'devnet' | 'preview' | 'preprod' | 'mainnet' | 'none';
  /** Which addresses belong to it. */
  readonly addresses: 'mainnet' | 'testnet';
  /** Tokens that every launch makes; null where the server does not say. */
  readonly supply: bigint | null;
}

export type NoticeKind = 'info' | 'good' | 'bad';

export interface PageContext {
  readonly client: Client;
  readonly clock: Clock;
  /** What ages count from. */
  readonly time: MarketTime;
  /** The token on the screen; null on every other place. */
  readonly asset: ReadonlySignal<string | null>;
  /** Its pool, live; null until it is there. Written by the page of a token alone. */
  readonly pool: Signal<LiquidityPoolInfo | null>;
  /** null until the server has said. */
  readonly network: ReadonlySignal<Network | null>;
  readonly route: ReadonlySignal<PageRoute>;
  /** Changes the address, and with it the place. */
  go(place: PageRoute): void;
  /** A short message at the edge of the page, read out politely; errors stay until dismissed. */
  notify(kind: NoticeKind, text: string): void;
}

export type Unmount = () => void;
