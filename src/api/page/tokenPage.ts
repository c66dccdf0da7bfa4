/**
 * `/t/<asset>`: the page, with a head that names one token. Chats and search engines read the head
 * only; a browser opens the token's view. A name is chosen by a stranger, so it is shown as
 * `shownText` leaves it, and escaped.
 */
import Type from 'typebox';
import { type AssetId, COIN, parseAsset } from '../../engine/market/asset.ts';
import { formatPrice, formatUnits } from '../../engine/market/decimal.ts';
import { spotOf } from '../../engine/market/pool.ts';
import { grouped, short, shortPrice } from '../../engine/market/shownNumber.ts';
import { shownText } from '../../engine/market/shownText.ts';
import type { ListedPool } from '../../engine/pools/listedPool.ts';
import { escapeMarkup } from '../../engine/runtime/markup.ts';
import { poolState } from '../../engine/store/records.ts';
import type { Route } from '../gateway/port.ts';
import { route } from '../gateway/route.ts';
import {
  HOME_HEAD,
  PAGE_ROUTE,
  PAGE_TYPE,
  type PageFacts,
  type PageHead,
  pageAnswer,
} from './document.ts';

const NAME_LENGTH = 60;
const TICKER_LENGTH = 12;
const DESCRIPTION_LENGTH = 200;
/** Longest part of an unknown address that our message quotes. */
const QUOTED_LENGTH = 100;

export interface TokenSource {
  /** As the fold lists it now. */
  find(token: AssetId): ListedPool | null;
  /** A token that was not launched here may have a chart all the same: its trades were replayed. */
  isTraded(token: AssetId): boolean;
  /** false: a token that is not there may be there soon. */
  synced(): boolean;
}

export interface TokenPageOptions extends PageFacts {
  /** Where chats reach this server; without it they get no addresses. */
  readonly publicUrl: string | null;
}

export function tokenPageRoute(tokens: TokenSource, options: TokenPageOptions): Route {
  return route({
    ...PAGE_ROUTE,
    // Its head is made for each token, unlike the files of the page.
    rate: 'read',
    path: '/t/:asset',
    operationId: 'tokenPage',
    summary: 'The page of one token, for links',
    description:
      'A browser opens the market there. Chats and search engines read the head: title, ' +
      'description and, where the server knows its own address, a picture (`/og/…`).',
    params: Type.Object({ asset: Type.String() }),
    answers: {
      200: { description: 'The page', type: PAGE_TYPE },
      404: { description: 'The page, which says that there is no such token', type: PAGE_TYPE },
      503: { description: 'The page, while the market is not read to its end', type: PAGE_TYPE },
    },
    handle({ params: { asset } }) {
      const { status, head } = found(tokens, asset, options.publicUrl);
      return pageAnswer(head, options, status);
    },
  });
}

function found(
  tokens: TokenSource,
  text: string,
  publicUrl: string | null,
): { readonly status: number; readonly head: PageHead } {
  const asset = parseAsset(text);
  if (asset === null || asset === COIN) {
    const message =
      `“${shownText(text, QUOTED_LENGTH)}” is no asset id. One is the policy in 56 hexadecimal ` +
      'digits, a point, and the name in hexadecimal digits. Find the token on the market by name.';
    return { status: 404, head: missing('No such address', message) };
  }
  const listed = tokens.find(asset);
  if (listed !== null) return { status: 200, head: tokenHead(listed, publicUrl) };
  if (tokens.isTraded(asset)) {
    const description = `The chart of ${asset}, from trades that were replayed.`;
    return { status: 200, head: { title: `${asset} · upcurve`, description } };
  }
  // The market may not be read to its end yet: the page waits for the token by itself.
  if (!tokens.synced()) return { status: 503, head: HOME_HEAD };
  const message =
    `No token ${asset} was launched here. If it was launched a moment ago, it is here with the ` +
    'next block; otherwise find it on the market by name.';
  return { status: 404, head: missing('No such token', message) };
}

function missing(title: string, description: string): PageHead {
  const more = '<meta name="robots" content="noindex">\n';
  return { title: `${title} · upcurve`, description, more };
}

export function tokenHead(listed: ListedPool, publicUrl: string | null): PageHead {
  const { pool, marketCapLovelace } = listed;
  const name = shownText(pool.name, NAME_LENGTH);
  const ticker = shownText(pool.ticker, TICKER_LENGTH);
  const { numerator, denominator } = spotOf(poolState(pool));
  const price = shortPrice(formatPrice(numerator, denominator));
  const cap = readable(marketCapLovelace);
  const figures = `${price} ADA, market cap ${cap} ADA.`;
  const description = `${figures} ${shownText(pool.description, DESCRIPTION_LENGTH)}`.trim();
  const title = `${name} (${ticker}) · upcurve`;
  const properties = [
    ['og:type', 'website'],
    ['og:site_name', 'upcurve'],
    ['og:title', title],
    ['og:description', description],
    ...(publicUrl === null ? [] : addresses(pool.token, publicUrl)),
  ];
  const metas = properties.map(
    ([property = '', content = '']) =>
      `<meta property="${property}" content="${escapeMarkup(content)}">\n`,
  );
  // Not a property of Open Graph: without it some chats show the picture small.
  const card = '<meta name="twitter:card" content="summary_large_image">\n';
  const more = metas.join('') + (publicUrl === null ? '' : card);
  return { title, description, more, isToken: true };
}

function addresses(token: string, publicUrl: string): string[][] {
  return [
    ['og:url', new URL(`/t/${token}`, publicUrl).href],
    ['og:image', new URL(`/og/${token}.png`, publicUrl).href],
    ['og:image:type', 'image/png'],
    ['og:image:width', '1200'],
    ['og:image:height', '630'],
  ];
}

/** Whole ADA below a thousand, a letter for more. */
function readable(lovelace: bigint): string {
  const whole = lovelace / 1_000_000n;
  return whole === 0n ? grouped(formatUnits(lovelace, 6)) : short(whole);
}
