/**
 * The colour that a token is shown in on pictures: of its logo, or of its id. Pictures need no
 * exact numbers, so these are floating point. Works on pixels as canvases and decoders have them.
 */

const BINS = 24;
const DEGREES = 360;
const STEP = DEGREES / BINS;
/** Least chroma of a pixel, 0 to 1: greyer or more transparent ones have no hue worth naming. */
const MIN_CHROMA = 0.12;
/** Least share of all opaque pixels; a logo with fewer coloured ones is grey. */
const MIN_SHARE = 0.02;

/**
 * Hue in degrees of the colour that most of a picture has, weighted by how strong it is; null: the
 * picture is grey or empty. `rgba`: four bytes a pixel.
 */
export function mainHue(rgba: ArrayLike<number>): number | null {
  const weights = new Float64Array(BINS);
  let opaque = 0;
  for (let at = 0; at + 3 < rgba.length; at += 4) {
    const alpha = (rgba[at + 3] ?? 0) / 255;
    opaque += alpha;
    const { hue, chroma } = hueOf(rgba[at] ?? 0, rgba[at + 1] ?? 0, rgba[at + 2] ?? 0);
    if (chroma < MIN_CHROMA) continue;
    const bin = Math.floor(hue / STEP) % BINS;
    weights[bin] = (weights[bin] ?? 0) + chroma * alpha;
  }
  const most = weights.indexOf(Math.max(...weights));
  const isGrey = opaque === 0 || (weights[most] ?? 0) < MIN_SHARE * opaque;
  return isGrey ? null : (most + 0.5) * STEP;
}

/** A hue for a token without a logo, always the same. */
export function hueOfAsset(asset: string): number {
  return Number.parseInt(asset.slice(0, 4), 16) % DEGREES || 0;
}

function hueOf(red: number, green: number, blue: number): { hue: number; chroma: number } {
  const most = Math.max(red, green, blue);
  const range = most - Math.min(red, green, blue);
  if (range === 0) return { hue: 0, chroma: 0 };
  const sixth =
    most === red
      ? (green - blue) / range
      : most === green
        ? (blue - red) / range + 2
        : (red - green) / range + 4;
  return { hue: (sixth * 60 + DEGREES) % DEGREES, chroma: range / 255 };
}

export interface CardColours {
  readonly ground: string;
  readonly panel: string;
  readonly line: string;
  /** At least 4.5 : 1 on the ground. */
  readonly accent: string;
}

/** Dark ones of a hue; null: without one. `hsl` of CSS and of SVG alike is written out as hex. */
export function cardColours(hue: number | null): CardColours {
  const [at, strength] = hue === null ? [215, 0.18] : [hue, 1];
  return {
    ground: hex(at, 0.34 * strength, 0.075),
    panel: hex(at, 0.3 * strength, 0.12),
    line: hex(at, 0.26 * strength, 0.21),
    accent: hex(at, hue === null ? 0.9 : 0.78, 0.7),
  };
}

function hex(hue: number, saturation: number, lightness: number): string {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number) => {
    const at = (offset + hue / 30) % 12;
    const value = lightness - reach * Math.max(-1, Math.min(at - 3, 9 - at, 1));
    return Math.round(value * 255)
      .toString(16)
      .padStart(2, '0');
  };
  return `#${channel(0)}${channel(8)}${channel(4)}`;
}
