/** The life of a token, at most 24 hours, as a line for the eye: it repeats the changes. */
import type { Ticker } from '../../client/types.ts';
import { sparkLine } from '../../engine/market/sparkSpan.ts';
import { memo } from '../page.tsx';

const [WIDTH, HEIGHT] = [96, 28];
/** So that the line is not cut at the edges. */
const MARGIN = 2;

export const Spark = memo(({ ticker }: { readonly ticker: Ticker }) => {
  const drawn = sparkLine(ticker);
  const [first, last] = [drawn[0], drawn.at(-1)];
  if (first === undefined || last === undefined) return null;
  const [low, high] = [Math.min(...drawn), Math.max(...drawn)];
  const step = WIDTH / (drawn.length - 1);
  const heightOf = (value: number) =>
    high === low
      ? HEIGHT / 2
      : HEIGHT - MARGIN - ((value - low) / (high - low)) * (HEIGHT - 2 * MARGIN);
  const points = drawn.map(
    (value, at) => `${(at * step).toFixed(1)},${heightOf(value).toFixed(1)}`,
  );
  const line = points.join(' ');
  const direction = last === first ? 'flat' : last < first ? 'down' : 'up';
  return (
    <svg
      class={`spark ${direction}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {high !== low && <polygon points={`0,${HEIGHT} ${line} ${WIDTH},${HEIGHT}`} />}
      <polyline points={line} />
    </svg>
  );
});
