/** Charts of the report as SVG: lines over time, and bars. They need no script. */
import { escapeMarkup } from '../../../engine/runtime/markup.ts';

const WIDTH = 720;
const HEIGHT = 180;
const LEFT = 64;
const BOTTOM = 24;
const COLOURS = ['#2563eb', '#dc2626', '#16a34a', '#9333ea'];
const SLANT = 4;

export interface Line {
  readonly name: string;
  /** One for each of `times`; null: a gap. */
  readonly values: readonly (number | null)[];
}

/** `times`: seconds, ascending. */
export function lineChart(
  title: string,
  unit: string,
  times: readonly number[],
  lines: readonly Line[],
): string {
  const all = lines.flatMap(({ values }) => values.filter((value) => value !== null));
  const most = Math.max(1e-9, ...all);
  const span = Math.max(1e-9, times.at(-1) ?? 0);
  const x = (at: number) => LEFT + ((times[at] ?? 0) / span) * (WIDTH - LEFT);
  const y = (value: number) => (1 - value / most) * (HEIGHT - BOTTOM) + SLANT;
  const paths = lines.map(({ values }, index) => {
    let isDrawing = false;
    const steps = values.map((value, at) => {
      const step = value === null ? '' : `${isDrawing ? 'L' : 'M'}${point(x(at), y(value))}`;
      isDrawing = value !== null;
      return step;
    });
    const stroke = `stroke="${COLOURS[index]}" stroke-width="1.5"`;
    return `<path d="${steps.join('')}" fill="none" ${stroke}/>`;
  });
  const legend = lines.map(({ name }, index) => {
    return `<span style="color:${COLOURS[index]}">${escapeMarkup(name)}</span>`;
  });
  const labels = [
    text(LEFT - 6, 12, `${short(most)} ${unit}`, 'end'),
    text(LEFT - 6, HEIGHT - BOTTOM + SLANT, '0', 'end'),
    text(WIDTH, HEIGHT - 6, `${short(span)} s`, 'end'),
  ];
  return figure(`${escapeMarkup(title)} ${legend.join(', ')}`, [...labels, ...paths]);
}

export function barChart(
  title: string,
  bars: readonly { readonly name: string; readonly value: number }[],
): string {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const step = (WIDTH - LEFT) / Math.max(1, bars.length);
  const parts = bars.flatMap(({ name, value }, at) => {
    const height = (value / most) * (HEIGHT - BOTTOM - 16);
    const [left, top] = [LEFT + at * step, HEIGHT - BOTTOM - height];
    const middle = left + step / 2;
    return [
      `<rect x="${left.toFixed(1)}" y="${top.toFixed(1)}" width="${(step * 0.9).toFixed(1)}" ` +
        `height="${height.toFixed(1)}" fill="${COLOURS[0]}"/>`,
      text(middle, top - 4, value === 0 ? '' : short(value), 'middle'),
      text(middle, HEIGHT - 6, name, 'middle'),
    ];
  });
  return figure(escapeMarkup(title), parts);
}

function figure(caption: string, parts: readonly string[]): string {
  const open = `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" font-size="11">`;
  return `<figure><figcaption>${caption}</figcaption>${open}${parts.join('')}</svg></figure>`;
}

function text(x: number, y: number, said: string, anchor: 'end' | 'middle'): string {
  const place = `x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}"`;
  return `<text ${place} fill="currentColor">${escapeMarkup(said)}</text>`;
}

function point(x: number, y: number): string {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}

function short(value: number): string {
  return value >= 100
    ? Math.round(value).toLocaleString('en-US')
    : `${Number(value.toPrecision(3))}`;
}
