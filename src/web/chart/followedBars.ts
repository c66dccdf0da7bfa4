/** The content of a chart: bars of an interval, or trades, each as a separate bar. */
import {
  type DrawnBars,
  type DrawOptions,
  type DrawTarget,
  drawBars,
} from '../../client/datafeed/index.ts';
import type { ApiError, BarsState, Client, PriceBar } from '../../client/index.ts';
import type { ChartResolution } from '../../engine/market/resolution.ts';
import { type LaunchPoint, TradesAsBars } from './tradeBars.ts';

export interface Drawn {
  readonly asset: string;
  readonly resolution: ChartResolution | 'trades';
  /** Where the line of trades begins; null: not known, or not here. */
  readonly launch: LaunchPoint | null;
}

/** As much of a mirror as is used here, of either kind. */
export interface Followed {
  readonly state: BarsState<PriceBar>;
  readonly isLoaded: boolean;
  onError(listener: (error: ApiError) => void): void;
  /** Draws it, in these colours, until the returned function is called. */
  draw(target: DrawTarget, options: DrawOptions): () => void;
  onChange(listener: () => void): void;
  close(): void;
}

export const keyOf = ({ asset, resolution }: Drawn) => `bars ${asset} ${resolution}`;

/** Market caps are prices on another scale, so there is one mirror for both. */
export function followed(client: Client, { asset, resolution, launch }: Drawn): Followed {
  if (resolution === 'trades') {
    const mirror = client.trades(asset);
    return followedOf(mirror, new TradesAsBars(mirror, launch));
  }
  const mirror = client.bars({ base: asset, quote: '.' }, resolution, { price: 'spot' });
  return followedOf(mirror, mirror);
}

interface Source {
  onError(listener: (error: ApiError) => void): void;
  close(): void;
}

function followedOf(source: Source, bars: DrawnBars<PriceBar>): Followed {
  return {
    get state() {
      return bars.state;
    },
    get isLoaded() {
      return bars.isLoaded;
    },
    onError: (listener) => source.onError(listener),
    onChange: (listener) => void bars.onChange(listener),
    draw: (target, options) => drawBars(bars, target, options).close,
    close: () => source.close(),
  };
}
