/**
 * The user's profit and loss as a picture to share: of all tokens or of one, drawn here, from the
 * portfolio, with the browser's typefaces. It names tokens and gains, and no address, so that a
 * viewer of the picture cannot look the wallet up.
 */

import type { PortfolioAnswer } from '../../client/types.ts';
import {
  type CardColours,
  cardColours,
  hueOfAsset,
  mainHue,
} from '../../engine/market/mainColour.ts';
import { multipleText } from '../../engine/market/multiple.ts';
import {
  COLOURS,
  fitted,
  HEIGHT,
  rect,
  roundLogo,
  svgPicture,
  WIDTH,
  words,
} from '../../engine/market/svgPicture.ts';
import { Button } from '../components/button.tsx';
import { navigationNow } from '../components/dialog.tsx';
import { logoOf } from '../components/logo.tsx';
import { ShareStar, sharePicture } from '../components/sharePicture.tsx';
import type { PageContext } from '../context.ts';
import { errorText } from '../errorText.ts';
import { localized, moment } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import {
  gainLovelace,
  gainOf,
  lookOf,
  lovelaceOf,
  moneyText,
  signed,
  withSign,
} from './gainText.ts';

type PortfolioToken = PortfolioAnswer['tokens'][number];
/** Fields that the portfolio and one of its tokens share. */
type Gains = Pick<
  PortfolioAnswer,
  'valueAda' | 'spentAda' | 'realizedPnlAda' | 'unrealizedPnlAda' | 'pnlPercent'
>;

export function PictureButton({ portfolio }: { readonly portfolio: PortfolioAnswer }) {
  const context = usePage();
  const share = () => shareGains(context, portfolio, portfolio.tokens, null);
  return <Button run={share}>{t.picture.share}</Button>;
}

/** The button for one token. */
export function TokenPictureButton({ token }: { readonly token: PortfolioToken }) {
  const context = usePage();
  const share = () => shareGains(context, token, [token], token);
  return <ShareStar label={t.picture.ofGain({ name: token.name })} run={share} />;
}

async function shareGains(
  context: PageContext,
  gains: Gains,
  tokens: readonly PortfolioToken[],
  only: PortfolioToken | null,
): Promise<void> {
  const navigation = navigationNow();
  try {
    const says = pictureOf(gains, tokens, only, moment(context.time.seconds.peek()));
    const blob = await drawn(says);
    const title = t.portfolio.picture.title;
    const shown = { blob, name: 'upcurve', title, says: textOf(says), navigation };
    await sharePicture(context, shown);
  } catch (error) {
    context.notify('bad', errorText(error));
  }
}

interface PictureRow {
  readonly token: PortfolioToken;
  readonly name: string;
  readonly gain: string;
  readonly look: string;
}

interface Picture {
  /** The token of a picture about one token; null: of all. */
  readonly only: PictureRow | null;
  readonly gain: string;
  readonly percent: string | null;
  /** Value for each ADA spent, as a multiple; null: nothing was spent. */
  readonly multiple: string | null;
  readonly look: string;
  readonly figures: readonly (readonly [name: string, value: string])[];
  /** The largest gains and losses, gains first. */
  readonly tokens: readonly PictureRow[];
  readonly when: string;
}

const MAX_TOKENS = 5;

export function pictureOf(
  gains: Gains,
  tokens: readonly PortfolioToken[],
  only: PortfolioToken | null,
  when: string,
): Picture {
  const { valueAda, spentAda, realizedPnlAda, unrealizedPnlAda, pnlPercent } = gains;
  const gain = gainOf(gains);
  const spent = lovelaceOf(spentAda);
  const brought = spent + gainLovelace(gains);
  const sized = tokens.map((token) => ({ token, lovelace: gainLovelace(token) }));
  const largest = sized
    .toSorted((a, b) => compare(size(b.lovelace), size(a.lovelace)))
    .slice(0, MAX_TOKENS)
    .sort((a, b) => compare(b.lovelace, a.lovelace));
  return {
    only: only === null ? null : rowOf(only),
    gain: signed(gain),
    percent: pnlPercent === null ? null : `${withSign(localized(pnlPercent))} %`,
    multiple: multipleText({ numerator: brought, denominator: spent }),
    look: lookOf(gain),
    figures: [
      [t.portfolio.realized, signed(realizedPnlAda)],
      [t.portfolio.unrealized, signed(unrealizedPnlAda)],
      [t.portfolio.value, moneyText(valueAda)],
    ],
    tokens: largest.map(({ token }) => rowOf(token)),
    when,
  };
}

function rowOf(token: PortfolioToken): PictureRow {
  const gain = gainOf(token);
  return { token, name: token.ticker || token.name, gain: signed(gain), look: lookOf(gain) };
}

function size(lovelace: bigint): bigint {
  return lovelace < 0n ? -lovelace : lovelace;
}

function compare(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Alternative text for screen readers. */
function textOf({ gain, percent, multiple, figures, tokens }: Picture): string {
  const all = [...figures, ...tokens.map((row) => [row.name, row.gain] as const)];
  const rest = all.map(([name, value]) => `${name} ${value}`).join(', ');
  const sums = [gain, percent, multiple].filter((each) => each !== null).join(', ');
  return `${t.portfolio.picture.gain} ${sums}. ${rest}`;
}

const MARGIN = 70;
const LIST_X = 720;
const LOGO = 52;
const LARGE_LOGO = 260;

interface PictureLogo {
  /** A round PNG, as a data URL. */
  readonly href: string;
  /** Of its colours, in degrees; null: it is grey. */
  readonly hue: number | null;
}

/** By asset; null: there is none, or it cannot be drawn. */
type Logos = ReadonlyMap<string, PictureLogo | null>;

async function drawn(picture: Picture): Promise<Blob> {
  const read = picture.tokens.map(
    async ({ token }) => [token.asset, await logoFor(token)] as const,
  );
  const family = getComputedStyle(document.body).fontFamily;
  const svg = gainSvg(picture, new Map(await Promise.all(read)), family);
  const url = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const context = contextOf(WIDTH, HEIGHT);
    context.drawImage(image, 0, 0);
    const blob = await new Promise<Blob | null>((resolve) => context.canvas.toBlob(resolve));
    if (blob === null) throw new Error(t.portfolio.picture.failed);
    return blob;
  } finally {
    URL.revokeObjectURL(url);
  }
}

async function logoFor({ logoCID }: PortfolioToken): Promise<PictureLogo | null> {
  const logo = await logoOf(logoCID);
  if (logo === null) return null;
  const context = contextOf(LARGE_LOGO, LARGE_LOGO);
  const half = LARGE_LOGO / 2;
  context.arc(half, half, half, 0, 2 * Math.PI);
  context.clip();
  context.drawImage(logo, 0, 0, LARGE_LOGO, LARGE_LOGO);
  const { data } = context.getImageData(0, 0, LARGE_LOGO, LARGE_LOGO);
  return { href: context.canvas.toDataURL(), hue: mainHue(data) };
}

function contextOf(width: number, height: number): CanvasRenderingContext2D {
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext('2d');
  if (context === null) throw new Error(t.portfolio.picture.failed);
  return context;
}

/** Colours of the picture's token, or of the best one. */
function coloursOf({ only, tokens }: Picture, logos: Logos): CardColours {
  const first = (only ?? tokens[0])?.token;
  if (first === undefined) return cardColours(null);
  const logo = logos.get(first.asset) ?? null;
  return cardColours(logo === null ? hueOfAsset(first.asset) : logo.hue);
}

function gainSvg(picture: Picture, logos: Logos, family: string): string {
  const { only, gain, percent, multiple, look, figures, tokens, when } = picture;
  const own = coloursOf(picture, logos);
  const width = LIST_X - MARGIN - 80;
  const sums = percent === null ? gain : `${gain}\u2003${percent}`;
  const title = only === null ? t.portfolio.picture.gain : only.token.name;
  const rows = figures.flatMap(([name, value], index) => {
    const y = 398 + index * 48;
    const { dim, text } = COLOURS;
    return [write(name, MARGIN, y, 28, 290, dim), write(value, MARGIN + 270, y, 30, 330, text)];
  });
  const parts = [
    rect(LIST_X - 40, 10, WIDTH - LIST_X + 40, HEIGHT - 10, own.panel),
    write(title, MARGIN, 100, 34, width, COLOURS.dim),
    multiple === null ? '' : write(multiple, MARGIN, 235, 120, width, own.accent, BOLD),
    write(sums, MARGIN, 320, 46, width, colourOf(look), BOLD),
    ...rows,
    ...(only === null ? listOf(tokens, logos, own) : [tokenOf(only, logos, own)]),
    write('upcurve', MARGIN, 575, 36, width, own.accent, BOLD),
    write(when, WIDTH - MARGIN, 575, 24, 380, COLOURS.dim, END),
  ];
  return svgPicture(parts, own, family);
}

const BOLD = 'font-weight="700"';
const END = 'text-anchor="end"';

function listOf(rows: readonly PictureRow[], logos: Logos, own: CardColours): string[] {
  return rows.flatMap((row, index) => {
    const y = 120 + index * 84;
    return [
      drawLogo(row, { x: LIST_X, y: y - 38, size: LOGO }, logos, own),
      write(row.name, LIST_X + LOGO + 18, y, 34, 150, COLOURS.text, BOLD),
      write(row.gain, WIDTH - MARGIN, y, 32, 215, colourOf(row.look), END),
    ];
  });
}

function tokenOf(row: PictureRow, logos: Logos, own: CardColours): string {
  const x = (LIST_X - 40 + WIDTH - LARGE_LOGO) / 2;
  const middle = `${BOLD} text-anchor="middle"`;
  return (
    drawLogo(row, { x, y: 110, size: LARGE_LOGO }, logos, own) +
    write(row.name, x + LARGE_LOGO / 2, 450, 54, 420, COLOURS.text, middle)
  );
}

function drawLogo(
  { token, name }: PictureRow,
  box: Parameters<typeof roundLogo>[0],
  logos: Logos,
  own: CardColours,
): string {
  const letters = Array.from(name).slice(0, 2).join('').toUpperCase();
  return roundLogo(box, { href: logos.get(token.asset)?.href ?? null, letters }, own);
}

function colourOf(look: string): string {
  if (look === '') return COLOURS.text;
  return look === 'down' ? COLOURS.down : COLOURS.up;
}

/** Text no wider than `width`. */
function write(
  text: string,
  x: number,
  y: number,
  size: number,
  width: number,
  fill: string,
  more = '',
): string {
  return words(text, x, y, fitted(text, size, width), fill, more);
}
