/** The bars that a chart draws, of prices or of market caps: one shape for either. */
import { type DrawOptions, type DrawTarget, drawBars } from '../../client/datafeed/index.ts';
import type { ApiError, BarsMirror, BarsState, CapBar, PriceBar } from '../../client/index.ts';
import type { ChartResolution } from '../../engine/market/resolution.ts';
import type { PageContext } from '../context.ts';
import type { BarKind } from './settings.ts';

export type AnyBar = PriceBar | CapBar;

/** As much of a mirror as is used here, of either kind. */
export interface Followed {
  readonly state: BarsState<AnyBar>;
  readonly isLoaded: boolean;
  onError(listener: (error: ApiError) => void): void;
  /** Draws it, in these colours, until the returned function is called. */
  draw(target: DrawTarget, options: DrawOptions): () => void;
  onChange(listener: () => void): void;
  close(): void;
}

interface Wanted {
  readonly context: PageContext;
  readonly asset: string;
  readonly resolution: ChartResolution;
  readonly kind: BarKind;
}

export function followed({ context, asset, resolution, kind }: Wanted): Followed {
  const pair = { base: asset, quote: '.' };
  const { client } = context;
  return kind === 'price'
    ? followedOf(client.bars(pair, resolution, { price: 'spot' }))
    : followedOf(client.bars(pair, resolution, { kind }));
}

function followedOf<B extends AnyBar>(mirror: BarsMirror<B>): Followed {
  return {
    get state() {
      return mirror.state;
    },
    get isLoaded() {
      return mirror.isLoaded;
    },
    onError: (listener) => mirror.onError(listener),
    onChange: (listener) => mirror.onChange(listener),
    draw: (target, options) => drawBars(mirror, target, options).close,
    close: () => mirror.close(),
  };
}
