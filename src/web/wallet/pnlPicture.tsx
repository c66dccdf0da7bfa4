/**
 * The user's profit and loss as a picture to share: drawn here, from the portfolio. It names tokens
 * and gains, and no address, so that a viewer of the picture cannot look the wallet up.
 */

import type { PortfolioAnswer } from '../../client/types.ts';
import { Button } from '../components/button.tsx';
import { ask } from '../components/dialog.tsx';
import { errorText } from '../errorText.ts';
import { localized, moment } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { gainLovelace, gainOf, lookOf, moneyText, signed, withSign } from './gainText.ts';

export function PictureButton({ portfolio }: { readonly portfolio: PortfolioAnswer }) {
  const { time, notify } = usePage();
  const share = async () => {
    const says = pictureOf(portfolio, moment(time.seconds.peek()));
    const blob = await drawn(says);
    const url = URL.createObjectURL(blob);
    const file = new File([blob], 'upcurve.png', { type: blob.type });
    const canShare = navigator.canShare?.({ files: [file] }) === true;
    await ask({
      title: t.portfolio.picture.title,
      content: <img class="pnl-picture" src={url} alt={textOf(says)} />,
      confirm: canShare ? t.portfolio.picture.send : t.portfolio.picture.save,
      run: async () => {
        if (canShare) await navigator.share({ files: [file] });
        else save(url, file.name);
        return true;
      },
      late: (error) => notify('bad', errorText(error)),
    });
    URL.revokeObjectURL(url);
  };
  return <Button run={share}>{t.portfolio.picture.share}</Button>;
}

interface PictureRow {
  readonly name: string;
  readonly gain: string;
  readonly look: string;
}

interface Picture {
  readonly gain: string;
  readonly percent: string | null;
  readonly look: string;
  readonly figures: readonly (readonly [name: string, value: string])[];
  /** The largest gains and losses, gains first. */
  readonly tokens: readonly PictureRow[];
  readonly when: string;
}

const MOST_TOKENS = 5;

export function pictureOf(portfolio: PortfolioAnswer, when: string): Picture {
  const { valueAda, realizedPnlAda, unrealizedPnlAda, pnlPercent, tokens } = portfolio;
  const gain = gainOf(portfolio);
  const sized = tokens.map((token) => ({ token, lovelace: gainLovelace(token) }));
  const largest = sized
    .toSorted((a, b) => compare(size(b.lovelace), size(a.lovelace)))
    .slice(0, MOST_TOKENS)
    .sort((a, b) => compare(b.lovelace, a.lovelace));
  return {
    gain: signed(gain),
    percent: pnlPercent === null ? null : `${withSign(localized(pnlPercent))} %`,
    look: lookOf(gain),
    figures: [
      [t.portfolio.realized, signed(realizedPnlAda)],
      [t.portfolio.unrealized, signed(unrealizedPnlAda)],
      [t.portfolio.value, moneyText(valueAda)],
    ],
    tokens: largest.map(({ token }) => {
      const own = gainOf(token);
      return { name: token.ticker || token.name, gain: signed(own), look: lookOf(own) };
    }),
    when,
  };
}

function size(lovelace: bigint): bigint {
  return lovelace < 0n ? -lovelace : lovelace;
}

function compare(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Alternative text for screen readers. */
function textOf({ gain, percent, figures, tokens }: Picture): string {
  const all = [...figures, ...tokens.map((row) => [row.name, row.gain] as const)];
  const rest = all.map(([name, value]) => `${name} ${value}`).join(', ');
  return `${t.portfolio.picture.gain} ${gain}${percent === null ? '' : `, ${percent}`}. ${rest}`;
}

const WIDTH = 1200;
const HEIGHT = 630;
const MARGIN = 70;
const LIST_X = 720;
const COLOURS = {
  ground: '#0d1015',
  panel: '#14181f',
  text: '#e7eaef',
  dim: '#97a2b2',
  up: '#35c27c',
  down: '#ff6b78',
  brand: '#5ea2ff',
} as const;

async function drawn(picture: Picture): Promise<Blob> {
  const canvas = document.createElement('canvas');
  canvas.width = WIDTH;
  canvas.height = HEIGHT;
  const context = canvas.getContext('2d');
  if (context === null) throw new Error(t.portfolio.picture.failed);
  draw(context, picture);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve));
  if (blob === null) throw new Error(t.portfolio.picture.failed);
  return blob;
}

function draw(context: CanvasRenderingContext2D, picture: Picture): void {
  const { gain, percent, look, figures, tokens, when } = picture;
  context.fillStyle = COLOURS.ground;
  context.fillRect(0, 0, WIDTH, HEIGHT);
  context.fillStyle = COLOURS.panel;
  context.fillRect(LIST_X - 40, 0, WIDTH - LIST_X + 40, HEIGHT);
  const write = writerOf(context);
  const width = LIST_X - MARGIN - 80;
  write(t.portfolio.picture.gain, { x: MARGIN, y: 120, size: 32, width });
  write(gain, { x: MARGIN, y: 210, size: 76, width, fill: colourOf(look), isBold: true });
  const beside = { x: MARGIN, y: 275, size: 46, width, fill: colourOf(look) };
  if (percent !== null) write(percent, beside);
  for (const [index, [name, value]] of figures.entries()) {
    const y = 370 + index * 52;
    write(name, { x: MARGIN, y, size: 28, width: 250 });
    write(value, { x: MARGIN + 270, y, size: 30, width: 290, fill: COLOURS.text });
  }
  for (const [index, row] of tokens.entries()) {
    const y = 130 + index * 84;
    write(row.name, { x: LIST_X, y, size: 36, width: 180, fill: COLOURS.text, isBold: true });
    const fill = colourOf(row.look);
    write(row.gain, { x: WIDTH - MARGIN, y, size: 34, width: 220, fill, isEnd: true });
  }
  write('upcurve', { x: MARGIN, y: 570, size: 36, width, fill: COLOURS.brand, isBold: true });
  write(when, { x: WIDTH - MARGIN, y: 570, size: 24, width: 380, isEnd: true });
}

function colourOf(look: string): string {
  if (look === '') return COLOURS.text;
  return look === 'down' ? COLOURS.down : COLOURS.up;
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  /** Wider text is made narrower. */
  readonly width: number;
  readonly fill?: string;
  readonly isBold?: boolean;
  /** `x` is where it ends. */
  readonly isEnd?: boolean;
}

function writerOf(context: CanvasRenderingContext2D) {
  const family = getComputedStyle(document.body).fontFamily;
  return (text: string, place: Place): void => {
    const { x, y, size, width, fill = COLOURS.dim, isBold = false, isEnd = false } = place;
    context.font = `${isBold ? 'bold ' : ''}${size}px ${family}`;
    context.fillStyle = fill;
    context.textAlign = isEnd ? 'right' : 'left';
    context.fillText(text, x, y, width);
  };
}

function save(url: string, name: string): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
}
