/** A line over time with its zero: floating point here is for pixels only. */
interface Point {
  /** Unix seconds. */
  readonly time: number;
  readonly value: number;
  /** On hover. */
  readonly title: string;
}

interface LineChartProps {
  /** Oldest first. */
  readonly points: readonly Point[];
  readonly label: string;
  /** In the place of a line, where there are not two points. */
  readonly none: string;
}

const WIDTH = 600;
const HEIGHT = 120;
const EDGE = 4;

export function LineChart({ points, label, none }: LineChartProps) {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 2) {
    return <p class="line-chart dim">{none}</p>;
  }
  const values = points.map(({ value }) => value);
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
  const range = most - least || 1;
  const x = (time: number) => ((time - first.time) / (last.time - first.time)) * WIDTH;
  const y = (value: number) => HEIGHT - EDGE - ((value - least) / range) * (HEIGHT - 2 * EDGE);
  const line = points.map(({ time, value }) => `${x(time).toFixed(1)},${y(value).toFixed(1)}`);
  const step = WIDTH / points.length;
  return (
    <svg
      class={last.value < 0 ? 'line-chart down' : 'line-chart up'}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}. ${last.title}`}
    >
      <line class="zero" x1="0" x2={WIDTH} y1={y(0)} y2={y(0)} />
      <polyline points={line.join(' ')} />
      {points.map(({ time, title }) => (
        <rect key={time} class="hit" x={x(time) - step / 2} y="0" width={step} height={HEIGHT}>
          <title>{title}</title>
        </rect>
      ))}
    </svg>
  );
}
