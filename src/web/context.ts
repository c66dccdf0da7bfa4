/**
 * The context that every part of the page gets, through `usePage`. Every stylesheet under `src/web`
 * is part of the document; controls come from `style/base.css`, colours from `style/colours.css`.
 */
import type { ReadonlySignal, Signal } from '@preact/signals';
import type { Client, ConnectionState } from '../client/index.ts';
import type { HealthData, LiquidityPoolInfo } from '../client/types.ts';
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

type NoticeKind = 'info' | 'good' | 'bad';

export interface Notice {
  readonly kind: NoticeKind;
  readonly text: string;
  readonly links?: readonly { readonly href: string; readonly label: string }[];
  /** It takes the place of the notice with the same key. */
  readonly key?: string;
  /** Something else is to come: it stays until then. */
  readonly isWaiting?: boolean;
}

export interface PageContext {
  readonly client: Client;
  readonly clock: Clock;
  /** The time that ages count from. */
  readonly time: MarketTime;
  readonly link: ReadonlySignal<ConnectionState>;
  /** null until the server has said. */
  readonly health: ReadonlySignal<HealthData | null>;
  /** Unix ms at which `health` arrived here: it comes each second. */
  readonly healthAtMs: ReadonlySignal<number | null>;
  /** The pool of the token on the screen, live; null until it is there. Written by that view. */
  readonly pool: Signal<LiquidityPoolInfo | null>;
  /** null until the server has said. */
  readonly network: ReadonlySignal<Network | null>;
  readonly route: ReadonlySignal<PageRoute>;
  /** Changes the address, and with it the view. */
  go(place: PageRoute): void;
  /** A short message at the edge of the page, read out politely; errors stay until dismissed. */
  notify(kind: NoticeKind, text: string, more?: Omit<Notice, 'kind' | 'text'>): void;
}
