/** How the chart looks: the colours of the page, which change with its theme. */
export interface Colours {
  readonly text: string;
  readonly line: string;
  readonly accent: string;
  readonly accentSoft: string;
  readonly up: string;
  readonly down: string;
  /** Colours of the volume. */
  readonly upBar: string;
  readonly downBar: string;
  /** Colours of lines over the bars, in the order of `INDICATORS`. */
  readonly lines: readonly string[];
}

const LINES = ['warn', 'line-pink', 'accent', 'line-lime', 'line-violet', 'dim', 'line-teal'];

/** Computed, because a canvas knows no custom properties. */
export function pageColours(): Colours {
  const probe = document.createElement('span');
  probe.hidden = true;
  document.body.append(probe);
  const colour = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const colours = {
    text: colour('dim'),
    line: colour('line'),
    accent: colour('accent'),
    accentSoft: colour('accent-soft'),
    up: colour('up'),
    down: colour('down'),
    upBar: colour('up-bar'),
    downBar: colour('down-bar'),
    lines: LINES.map(colour),
  };
  probe.remove();
  return colours;
}

/** Options of the chart that follow the theme. */
export function chartTheme({ text, line }: Colours) {
  return {
    layout: { textColor: text, fontSize: 11, panes: { separatorColor: line } },
    grid: { vertLines: { color: line }, horzLines: { color: line } },
    rightPriceScale: {
      borderColor: line,
      scaleMargins: { top: 0.08, bottom: 0.06 },
      // Half a label at the edge of a pane cannot be read.
      entireTextOnly: true,
    },
    timeScale: {
      borderColor: line,
      timeVisible: true,
      secondsVisible: false,
    },
  };
}

/** Options of the bars; a series uses the options of its kind. */
export function seriesTheme({ up, down, accent, accentSoft }: Colours) {
  return {
    Candlestick: {
      upColor: up,
      downColor: down,
      wickUpColor: up,
      wickDownColor: down,
      borderVisible: false,
    },
    Line: { color: accent, lineWidth: 2 as const },
    Area: { lineColor: accent, topColor: accentSoft, bottomColor: 'transparent' },
  };
}
