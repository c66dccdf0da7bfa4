/**
 * The card of a token as SVG, 1200 × 630: what chats show beside a link. A name is chosen by a
 * stranger: only numbers of ours and escaped text reach the SVG, and text is clipped to its box.
 */
import { type CardColours, cardColours, hueOfAsset } from '../../engine/market/mainColour.ts';
import { cut, grouped, short, subscriptZeros } from '../../engine/market/shownNumber.ts';
import { graphemesOf, shownText } from '../../engine/market/shownText.ts';
import { sparkLine } from '../../engine/market/sparkSpan.ts';
import {
  COLOURS,
  fitted,
  rect,
  roundLogo,
  svgPicture,
  WIDTH,
  widthOf,
  words,
} from '../../engine/market/svgPicture.ts';

const LOGO_SIZE = 168;

/** Fields of a ticker (protocol.md section 9.1) that the card shows. */
export interface CardFacts {
  readonly asset: string;
  readonly name: string;
  readonly ticker: string;
  readonly price: string;
  /** null: the token has no pool. */
  readonly marketCap: string | null;
  /** null: not known. */
  readonly change24h: string | null;
  readonly changeBasis: { readonly '24h'?: unknown };
  readonly progress: string | null;
  readonly graduated: boolean | null;
  readonly spark: { readonly closes: readonly (string | null)[] };
  /** Price now by the price of the launch, as `2.3×`; null: the launch was not seen here. */
  readonly multiple: string | null;
}

/** Facts that the renderer collects before it draws. */
export interface Drawn {
  /** A PNG of LOGO_SIZE; null: the first letter stands for it. */
  readonly logo: Uint8Array | null;
  /** Hue of the logo, in degrees; null: it is grey, or there is none. */
  readonly hue: number | null;
  /** Characters that the typefaces lack: they are left out. */
  readonly missing: ReadonlySet<string>;
}

const MARGIN = 60;
const TEXT_X = MARGIN + LOGO_SIZE + 40;
const TEXT_WIDTH = WIDTH - TEXT_X - MARGIN;
const NAME = { size: 72, least: 44, most: 40 };
const TICKER = { size: 38, least: 26, most: 24 };
const PRICE_DIGITS = 4;
const FIGURE_WIDTH = 255;
const CHART = { x: MARGIN, y: 384, width: WIDTH - 2 * MARGIN, height: 150 };
const BAR = { y: 560, height: 14, width: 620 };

/**
 * The parts of a stranger's text that are drawn. The renderer looks up each character in the
 * typefaces.
 */
export function namesOf({ name, ticker }: Pick<CardFacts, 'name' | 'ticker'>): string {
  return shownText(name, NAME.most) + shownText(ticker, TICKER.most);
}

export function cardSvg(facts: CardFacts, { logo, hue, missing }: Drawn): string {
  const ticker = drawable(shownText(facts.ticker, TICKER.most), missing, '');
  const id = `${facts.asset.slice(0, 12)}…`;
  const name = drawable(shownText(facts.name, NAME.most), missing, ticker === '' ? id : ticker);
  const own = cardColours(logo === null ? hueOfAsset(facts.asset) : hue);
  const parts = [
    logoPart(name, logo, own),
    line(name, 132, NAME, COLOURS.text, true),
    line(ticker, 196, TICKER, COLOURS.dim, false),
    ...figures(facts, own),
    chart(facts, own),
    ...progressBar(facts, own),
    words('upcurve', WIDTH - MARGIN, 578, 32, own.accent, 'font-weight="700" text-anchor="end"'),
  ];
  return svgPicture(parts, own, FAMILY);
}

export const FAMILY = 'DejaVu Sans';

/** The logo alone, cut to a circle, so that it is decoded and made smaller once. */
export function logoSvg(bytes: Uint8Array, mediaType: string): string {
  const data = `data:${mediaType};base64,${Buffer.from(bytes).toString('base64')}`;
  const half = LOGO_SIZE / 2;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${LOGO_SIZE}" height="${LOGO_SIZE}">` +
    `<clipPath id="c"><circle cx="${half}" cy="${half}" r="${half}"/></clipPath>` +
    `<image width="${LOGO_SIZE}" height="${LOGO_SIZE}" preserveAspectRatio="xMidYMid slice" ` +
    `clip-path="url(#c)" href="${data}"/></svg>`
  );
}

/** Without what the typefaces lack; `otherwise` where neither a letter nor an emoji is left. */
function drawable(text: string, missing: ReadonlySet<string>, otherwise: string): string {
  const kept = [...text].filter((character) => !missing.has(character)).join('');
  const plain = kept.replace(/\s+/g, ' ').trim();
  return /[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(plain) ? plain : otherwise;
}

function logoPart(name: string, logo: Uint8Array | null, own: CardColours): string {
  const [letter = ''] = name.match(/[\p{L}\p{N}\p{Extended_Pictographic}]/u) ?? [];
  const data = logo === null ? null : Buffer.from(logo).toString('base64');
  const href = data === null ? null : `data:image/png;base64,${data}`;
  return roundLogo({ x: MARGIN, y: MARGIN, size: LOGO_SIZE }, { href, letters: letter }, own);
}

interface Size {
  readonly size: number;
  /** Where this is too wide, text is cut. */
  readonly least: number;
}

/** One line beside the logo: made smaller until it fits, then cut. */
function line(text: string, y: number, { size, least }: Size, fill: string, isBold: boolean) {
  let shown = graphemesOf(text);
  while (shown.length > 1 && widthOf(shown) * least > TEXT_WIDTH) {
    shown = [...shown.slice(0, -2), '…'];
  }
  const fitting = Math.min(size, Math.max(least, TEXT_WIDTH / Math.max(widthOf(shown), 1e-6)));
  const weight = isBold ? 'font-weight="700"' : '';
  const drawn = words(shown.join(''), 0, y, Math.floor(fitting), fill, weight);
  // Marks reach far above a letter, and no estimate of a width holds for all scripts.
  const box = `x="${TEXT_X}" width="${TEXT_WIDTH}" height="${y + Math.ceil(size / 3)}"`;
  return `<svg ${box}>${drawn}</svg>`;
}

function figures(facts: CardFacts, { accent }: CardColours): string[] {
  const { price, marketCap, change24h, changeBasis, multiple } = facts;
  const shownPrice = `${subscriptZeros(price, PRICE_DIGITS)} ₳`;
  const isDown = change24h?.startsWith('-') === true;
  const large = 'font-weight="700" text-anchor="end"';
  return [
    figure('Price', shownPrice, MARGIN, COLOURS.text),
    marketCap === null ? '' : figure('Market cap', `${readable(marketCap)} ₳`, 340, COLOURS.text),
    change24h === null
      ? ''
      : figure(
          changeBasis['24h'] === undefined ? '24 hours' : 'Since launch',
          signed(change24h),
          595,
          isDown ? COLOURS.down : COLOURS.up,
        ),
    multiple === null
      ? ''
      : words(multiple, WIDTH - MARGIN, 342, fitted(multiple, 88, FIGURE_WIDTH), accent, large),
  ];
}

/** Whole ADA below a thousand, a letter for more. */
function readable(ada: string): string {
  const [whole = '0'] = ada.split('.');
  return BigInt(whole) >= 1_000n ? short(whole) : grouped(cut(ada, 2));
}

function signed(percent: string): string {
  const isDown = percent.startsWith('-');
  const [whole = '0', fraction = '00'] = percent.replace('-', '').split('.');
  const size = whole.length > 4 ? short(whole) : `${grouped(whole)}.${fraction}`;
  return `${isDown ? '−' : '+'}${size} %`;
}

function figure(label: string, value: string, x: number, fill: string): string {
  const size = fitted(value, 46, FIGURE_WIDTH);
  return (
    words(label, x, 288, 26, COLOURS.dim) + words(value, x, 342, size, fill, 'font-weight="700"')
  );
}

/** The spark. Places between 0 and 1 of the height: a picture needs no exact numbers. */
function chart(facts: CardFacts, { line: axis }: CardColours): string {
  const { x, y, width, height } = CHART;
  const values = sparkLine(facts);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const step = width / Math.max(values.length - 1, 1);
  const points = values.map((value, index) => {
    const place = most > least ? (value - least) / (most - least) : 0.5;
    return { x: x + index * step, y: y + 10 + (1 - place) * (height - 20) };
  });
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return '';
  const isDown = facts.change24h?.startsWith('-') ?? (values.at(-1) ?? 0) < (values[0] ?? 0);
  const colour = isDown ? COLOURS.down : COLOURS.up;
  const text = points.map((point) => `${point.x.toFixed(1)},${point.y.toFixed(1)}`).join(' ');
  const bottom = y + height;
  const area = `${first.x.toFixed(1)},${bottom} ${text} ${last.x.toFixed(1)},${bottom}`;
  return (
    `<path d="M${x} ${bottom}H${x + width}" stroke="${axis}" stroke-width="2"/>` +
    `<polygon points="${area}" fill="${colour}" fill-opacity="0.14"/>` +
    `<polyline points="${text}" fill="none" stroke="${colour}" stroke-width="5" ` +
    'stroke-linejoin="round" stroke-linecap="round"/>' +
    `<circle cx="${last.x.toFixed(1)}" cy="${last.y.toFixed(1)}" r="9" fill="${colour}"/>`
  );
}

function progressBar({ progress, graduated }: CardFacts, own: CardColours): string[] {
  if (progress === null) return [];
  const share = Math.min(1, Number(progress) / 100);
  const text = graduated === true ? 'Graduated' : `${cut(progress, 1)} % of the curve`;
  const rounded = `rx="${BAR.height / 2}"`;
  return [
    rect(MARGIN, BAR.y, BAR.width, BAR.height, own.line, rounded),
    rect(MARGIN, BAR.y, Math.max(BAR.height, share * BAR.width), BAR.height, own.accent, rounded),
    words(text, MARGIN + BAR.width + 20, BAR.y + 15, 24, COLOURS.dim),
  ];
}
