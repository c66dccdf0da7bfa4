/**
 * The price by the coins in the pool: the present price, graduation, and the effect of the amount
 * in the form. The amount can be dragged, with the pointer or with arrow keys.
 */
import type { TargetedKeyboardEvent, TargetedPointerEvent } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import type { LiquidityPoolInfo } from '../../client/types.ts';
import { shortMoney } from '../fiat.ts';
import { ada, localized } from '../format.ts';
import { t } from '../messages.ts';
import { dragged, enteredTrade } from '../trade/enteredTrade.ts';
import {
  amountTo,
  capAt,
  coinsAfter,
  heightOf,
  type PricePath,
  percentBetween,
  pricePath,
} from './pricePath.ts';

/** Units of the drawing, which is stretched to its panel. */
const [WIDTH, HEIGHT] = [1000, 400];
const POINTS = 48;
/** Empty above the highest price. */
const HEADROOM = 1.12;
/** Steps of the keyboard over the whole width. */
const STEPS = 100n;

interface PictureProps {
  readonly pool: LiquidityPoolInfo;
  readonly supply: bigint;
}

export function CurvePicture({ pool, supply }: PictureProps) {
  const path = useMemo(() => pricePath(pool, supply), [pool.pool, supply]);
  const scale = useMemo(() => scaleOf(path), [path]);
  const area = useRef<HTMLDivElement>(null);
  const form = enteredTrade.value;
  const after = form === null ? null : coinsAfter(path, form);
  const at = after ?? path.now;
  const drag = (to: bigint) => {
    if (form !== null) dragged.value = amountTo(path, form.kind, to);
  };
  const follow = ({ buttons, clientX }: TargetedPointerEvent<HTMLDivElement>) => {
    const box = area.current?.getBoundingClientRect();
    if (box === undefined || buttons === 0) return;
    drag(scale.coinsAt((clientX - box.left) / box.width));
  };
  const walk = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowRight: 1n, ArrowUp: 1n, ArrowLeft: -1n, ArrowDown: -1n }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    drag(at + (step * (path.to - path.from)) / STEPS);
  };
  return (
    <div
      class="curve-picture"
      ref={area}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        follow(event);
      }}
      onPointerMove={follow}
    >
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <path class="filled" d={scale.area(path.from, path.now)} />
        {after !== null && <path class={lookOf(path, after)} d={scale.area(path.now, after)} />}
        <path class="line" d={scale.line(path.from, path.to)} />
      </svg>
      <span class="now" style={scale.place(path.now)} />
      {form !== null && (
        <div
          class="handle"
          role="slider"
          tabIndex={0}
          aria-label={t.token.picture.drag}
          aria-valuemin={Number(path.from / LOVELACE)}
          aria-valuemax={Number(path.to / LOVELACE)}
          aria-valuenow={Number(at / LOVELACE)}
          aria-valuetext={t.token.picture.inPool({ coins: ada(at, 0) })}
          style={scale.place(at)}
          onKeyDown={walk}
        />
      )}
      <Captions path={path} after={after} supply={supply} ends={pool.pool.cpmmPoolId === null} />
    </div>
  );
}

interface CaptionsProps {
  readonly path: PricePath;
  readonly after: bigint | null;
  readonly supply: bigint;
  /** Whether graduation lies at the right. */
  readonly ends: boolean;
}

function Captions({ path, after, supply, ends }: CaptionsProps) {
  const capText = (coins: bigint) => shortMoney(capAt(path.priceAt(coins), supply));
  return (
    <>
      <p class="cap-now">
        <span class="dim">{t.token.picture.now}</span> {capText(path.now)}
      </p>
      {after !== null && (
        <p class={`cap-after ${lookOf(path, after)}`}>
          <span class="dim">{t.token.picture.after}</span> {capText(after)} (
          {changeText(path, after)})
        </p>
      )}
      {ends && (
        <p class="cap-end">
          <span class="dim">{t.token.graduation}</span> {capText(path.to)}
        </p>
      )}
    </>
  );
}

const LOVELACE = 1_000_000n;

function scaleOf(path: PricePath) {
  const { from, to } = path;
  const span = to - from;
  const highest = path.priceAt(to);
  const x = (coins: bigint) => (span === 0n ? 0 : Number(((coins - from) * 100_000n) / span) / 1e5);
  const y = (coins: bigint) => 1 - heightOf(path.priceAt(coins), highest) / HEADROOM;
  const line = (first: bigint, last: bigint) => {
    const steps = Array.from({ length: POINTS + 1 }, (_, index) => {
      const coins = first + ((last - first) * BigInt(index)) / BigInt(POINTS);
      return `${(x(coins) * WIDTH).toFixed(1)} ${(y(coins) * HEIGHT).toFixed(1)}`;
    });
    return `M${steps.join('L')}`;
  };
  return {
    line,
    area(first: bigint, last: bigint) {
      const [left, right] = [x(first) * WIDTH, x(last) * WIDTH];
      return `${line(first, last)}L${right.toFixed(1)} ${HEIGHT}L${left.toFixed(1)} ${HEIGHT}Z`;
    },
    place: (coins: bigint) => ({ left: `${x(coins) * 100}%`, top: `${y(coins) * 100}%` }),
    coinsAt(part: number) {
      const share = BigInt(Math.round(Math.min(1, Math.max(0, part)) * 1e5));
      return from + (span * share) / 100_000n;
    },
  };
}

const lookOf = ({ now }: PricePath, after: bigint) => (after >= now ? 'up' : 'down');

function changeText(path: PricePath, after: bigint): string {
  const percent = percentBetween(path.priceAt(path.now), path.priceAt(after));
  const sign = percent.startsWith('-') ? '−' : '+';
  return `${sign}${localized(percent.replace('-', ''))}%`;
}
