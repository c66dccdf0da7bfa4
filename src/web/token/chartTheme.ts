/** How the chart looks: the colours of the page, which change with its theme. */
import { cut } from '../format.ts';

interface Colours {
  readonly text: string;
  readonly line: string;
  readonly up: string;
  readonly down: string;
  /** Of the volume. */
  readonly upBar: string;
  readonly downBar: string;
}

/** Computed, because a canvas knows no custom properties. */
export function pageColours(): Colours {
  const probe = document.createElement('span');
  probe.hidden = true;
  document.body.append(probe);
  const colour = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const [text, line] = [colour('dim'), colour('line')];
  const [up, down, upBar, downBar] = [
    colour('up'),
    colour('down'),
    colour('up-bar'),
    colour('down-bar'),
  ];
  probe.remove();
  return { text, line, up, down, upBar, downBar };
}

/** Options of the chart, as far as they follow the theme. */
export function chartTheme({ text, line }: Colours) {
  return {
    layout: { textColor: text, fontSize: 11 },
    grid: { vertLines: { color: line }, horzLines: { color: line } },
    rightPriceScale: { borderColor: line, scaleMargins: { top: 0.08, bottom: 0.24 } },
    timeScale: {
      borderColor: line,
      timeVisible: true,
      secondsVisible: false,
      rightOffset: 4,
      barSpacing: 9,
    },
  };
}

export function candleTheme({ up, down }: Colours) {
  return {
    upColor: up,
    downColor: down,
    wickUpColor: up,
    wickDownColor: down,
    borderVisible: false,
  };
}

const SIGNIFICANT = 5;

/** For the axis, which has numbers only: no exponent, a few significant digits. */
export function axisNumber(value: number): string {
  // The scale leaves room below the lowest price, which may reach under nothing.
  if (value < 0) return '';
  if (value === 0) return '0';
  const size = Math.floor(Math.log10(Math.abs(value)));
  const digits = Math.max(0, Math.min(18, SIGNIFICANT - 1 - size));
  return size >= 3 ? value.toFixed(0) : cut(value.toFixed(digits), digits);
}
