/** How the reader wants charts, on every token: kept in the browser. */
import { CHART_RESOLUTIONS, type ChartResolution } from '../../engine/market/resolution.ts';
import { storedSignal } from '../stored.ts';
import {
  FIRST_LENGTHS,
  INDICATORS,
  type IndicatorName,
  isLength,
  type Lengths,
  MEASURED,
} from './indicators.ts';
import { ZONES, type Zone } from './zone.ts';

const YOUNG = ['trades', 'bars'] as const;
export const KINDS = ['mcap', 'price'] as const;
export const STYLES = ['candles', 'line', 'area'] as const;
export const SCALES = ['normal', 'log', 'percent'] as const;
type BarKind = (typeof KINDS)[number];
export type BarStyle = (typeof STYLES)[number];
export type Scale = (typeof SCALES)[number];

interface Settings {
  readonly resolution: ChartResolution;
  /** The first chart of a young token. */
  readonly young: (typeof YOUNG)[number];
  readonly kind: BarKind;
  readonly style: BarStyle;
  readonly scale: Scale;
  readonly zone: Zone;
  readonly indicators: readonly IndicatorName[];
  readonly lengths: Lengths;
}

const FIRST: Settings = {
  resolution: 'min1',
  young: 'trades',
  kind: 'mcap',
  style: 'candles',
  scale: 'normal',
  zone: 'local',
  indicators: [],
  lengths: FIRST_LENGTHS,
};

export const settings = storedSignal<Settings>('chart', FIRST, (kept) => {
  if (typeof kept !== 'object' || kept === null) return null;
  const named = <T>(name: string, all: readonly T[], first: T) =>
    all.find((each) => each === Reflect.get(kept, name)) ?? first;
  const chosen: unknown = Reflect.get(kept, 'indicators');
  const isChosen = (name: IndicatorName) => Array.isArray(chosen) && chosen.includes(name);
  const lengths = Object(Reflect.get(kept, 'lengths'));
  const lengthOf = (name: keyof Lengths): readonly [keyof Lengths, number] => {
    const length: unknown = Reflect.get(lengths, name);
    return [name, isLength(length) ? length : FIRST_LENGTHS[name]];
  };
  return {
    resolution: named('resolution', CHART_RESOLUTIONS, FIRST.resolution),
    young: named('young', YOUNG, FIRST.young),
    kind: named('kind', KINDS, FIRST.kind),
    style: named('style', STYLES, FIRST.style),
    scale: named('scale', SCALES, FIRST.scale),
    zone: named('zone', ZONES, FIRST.zone),
    indicators: INDICATORS.filter(isChosen),
    lengths: { ...FIRST_LENGTHS, ...Object.fromEntries(MEASURED.map(lengthOf)) },
  };
});

export function change(part: Partial<Settings>): void {
  settings.value = { ...settings.value, ...part };
}
