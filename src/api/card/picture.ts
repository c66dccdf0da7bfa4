/**
 * The card of a token as SVG, 1200 × 630: what chats show beside a link. A name is chosen by a
 * stranger: only numbers of ours and escaped text reach the SVG.
 */

import { cut, grouped, short, subscriptZeros } from '../../engine/market/shownNumber.ts';
import { shownText } from '../../engine/market/shownText.ts';
import { sparkLine } from '../../engine/market/sparkSpan.ts';
import { escapeMarkup } from '../../engine/runtime/markup.ts';

export const WIDTH = 1200;
export const HEIGHT = 630;
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
}

const COLOURS = {
  ground: '#0f1216',
  panel: '#171c22',
  line: '#2a323c',
  text: '#f2f5f8',
  dim: '#98a3b0',
  up: '#2ebd85',
  down: '#f6465d',
  brand: '#5b8cff',
} as const;

const MARGIN = 60;
const TEXT_X = MARGIN + LOGO_SIZE + 40;
const TEXT_WIDTH = WIDTH - TEXT_X - MARGIN;
const NAME = { size: 72, least: 44, most: 40 };
const TICKER = { size: 38, least: 26, most: 24 };
const PRICE_DIGITS = 4;
const PRICE_WIDTH = 400;
const CHART = { x: MARGIN, y: 384, width: WIDTH - 2 * MARGIN, height: 150 };
const BAR = { y: 560, height: 14, width: 620 };

/** `logo`: a PNG of LOGO_SIZE, checked already; null: the first letter stands for it. */
export function cardSvg(facts: CardFacts, logo: Uint8Array | null): string {
  const ticker = drawable(shownText(facts.ticker, TICKER.most), '');
  const id = `${facts.asset.slice(0, 12)}…`;
  const name = drawable(shownText(facts.name, NAME.most), ticker === '' ? id : ticker);
  const parts = [
    rect(0, 0, WIDTH, HEIGHT, COLOURS.ground),
    logoPart(name, logo),
    line(name, 132, NAME, COLOURS.text, true),
    line(ticker, 196, TICKER, COLOURS.dim, false),
    ...figures(facts),
    chart(facts),
    ...progressBar(facts),
    words('upcurve', WIDTH - MARGIN, 578, 32, COLOURS.brand, 'font-weight="700" text-anchor="end"'),
  ];
  const size = `width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}"`;
  const head = `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="${FAMILY}">`;
  return `${head}${parts.join('')}</svg>`;
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

/**
 * Scripts that the typeface has. Others (Chinese, Japanese, Korean, Thai, Indic scripts) are left
 * out: their fonts would double what pictures add to an installation.
 */
const SCRIPTS = ['Latin', 'Greek', 'Cyrillic', 'Armenian', 'Georgian', 'Arabic', 'Hebrew'];
const MISSING = new RegExp(
  `[^${SCRIPTS.map((name) => `\\p{Script=${name}}`).join('')}` +
    '\\p{Mn}\\p{N}\\p{P}\\p{Sc}\\p{Sm}\\p{Zs}\\u200c\\u200d\\u{1f600}-\\u{1f640}\\u2600-\\u26ff]',
  'gu',
);

function drawable(text: string, otherwise: string): string {
  const kept = text.replace(MISSING, '').replace(/\s+/g, ' ').trim();
  return /[\p{L}\p{N}]/u.test(kept) ? kept : otherwise;
}

function logoPart(name: string, logo: Uint8Array | null): string {
  const half = LOGO_SIZE / 2;
  const middle = MARGIN + half;
  const circle = `<circle cx="${middle}" cy="${middle}" r="${half}" fill="${COLOURS.panel}"/>`;
  if (logo !== null) {
    const data = Buffer.from(logo).toString('base64');
    const place = `x="${MARGIN}" y="${MARGIN}" width="${LOGO_SIZE}" height="${LOGO_SIZE}"`;
    return `${circle}<image ${place} href="data:image/png;base64,${data}"/>`;
  }
  const [letter = ''] = name.match(/[\p{L}\p{N}]/u) ?? [];
  return circle + words(letter, middle, middle + 30, 84, COLOURS.dim, 'text-anchor="middle"');
}

interface Size {
  readonly size: number;
  /** Where this is too wide, text is cut. */
  readonly least: number;
}

/** One line beside the logo: made smaller until it fits, then cut. */
function line(text: string, y: number, { size, least }: Size, fill: string, isBold: boolean) {
  let shown = [...text];
  while (shown.length > 1 && widthOf(shown) * least > TEXT_WIDTH) {
    shown = [...shown.slice(0, -2), '…'];
  }
  const fitting = Math.min(size, Math.max(least, TEXT_WIDTH / Math.max(widthOf(shown), 1e-6)));
  const weight = isBold ? 'font-weight="700"' : '';
  return words(shown.join(''), TEXT_X, y, Math.floor(fitting), fill, weight);
}

/** In sizes of the font: the bold letters of the typeface are nowhere wider than this says. */
function widthOf(characters: readonly string[]): number {
  return characters.reduce((sum, character) => sum + widthOfOne(character), 0);
}

function widthOfOne(character: string): number {
  if (/\p{M}/u.test(character)) return 0;
  if (/[ijlI.,:;'|!¡()[\]\s]/u.test(character)) return 0.48;
  if (/[mwMWQ@%…\u2600-\u26ff\u{1f600}-\u{1f640}]/u.test(character)) return 1.12;
  if (/\p{Lu}/u.test(character)) return 0.86;
  return /\p{Script=Arabic}/u.test(character) ? 1.05 : 0.72;
}

function figures({ price, marketCap, change24h, changeBasis }: CardFacts): string[] {
  const shownPrice = `${subscriptZeros(price, PRICE_DIGITS)} ₳`;
  const isDown = change24h?.startsWith('-') === true;
  return [
    figure('Price', shownPrice, MARGIN, COLOURS.text),
    marketCap === null ? '' : figure('Market cap', `${readable(marketCap)} ₳`, 480, COLOURS.text),
    change24h === null
      ? ''
      : figure(
          changeBasis['24h'] === undefined ? '24 hours' : 'Since launch',
          signed(change24h),
          850,
          isDown ? COLOURS.down : COLOURS.up,
        ),
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
  const size = Math.min(46, Math.floor(PRICE_WIDTH / Math.max(widthOf([...value]), 1)));
  return (
    words(label, x, 288, 26, COLOURS.dim) + words(value, x, 342, size, fill, 'font-weight="700"')
  );
}

/** The spark. Places between 0 and 1 of the height: a picture needs no exact numbers. */
function chart(facts: CardFacts): string {
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
    `<path d="M${x} ${bottom}H${x + width}" stroke="${COLOURS.line}" stroke-width="2"/>` +
    `<polygon points="${area}" fill="${colour}" fill-opacity="0.14"/>` +
    `<polyline points="${text}" fill="none" stroke="${colour}" stroke-width="5" ` +
    'stroke-linejoin="round" stroke-linecap="round"/>' +
    `<circle cx="${last.x.toFixed(1)}" cy="${last.y.toFixed(1)}" r="9" fill="${colour}"/>`
  );
}

function progressBar({ progress, graduated }: CardFacts): string[] {
  if (progress === null) return [];
  const share = Math.min(1, Number(progress) / 100);
  const text = graduated === true ? 'Graduated' : `${cut(progress, 1)} % of the curve`;
  const rounded = `rx="${BAR.height / 2}"`;
  return [
    rect(MARGIN, BAR.y, BAR.width, BAR.height, COLOURS.line, rounded),
    rect(
      MARGIN,
      BAR.y,
      Math.max(BAR.height, share * BAR.width),
      BAR.height,
      COLOURS.brand,
      rounded,
    ),
    words(text, MARGIN + BAR.width + 20, BAR.y + 15, 24, COLOURS.dim),
  ];
}

function rect(x: number, y: number, width: number, height: number, fill: string, more = '') {
  const size = `width="${width.toFixed(1)}" height="${height}"`;
  return `<rect x="${x}" y="${y}" ${size} fill="${fill}" ${more}/>`;
}

function words(text: string, x: number, y: number, size: number, fill: string, more = ''): string {
  const place = `x="${x}" y="${y}" font-size="${size}" fill="${fill}"`;
  return `<text ${place} ${more}>${escapedXml(text)}</text>`;
}

/** Text for elements of XML, which also forbids most control characters and half surrogates. */
function escapedXml(text: string): string {
  return escapeMarkup(
    text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, ''),
  );
}
