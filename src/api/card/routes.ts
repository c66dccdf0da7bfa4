/** `/og/<asset>.png`: the picture that chats show beside a link to a token. */
import { LRUCache } from 'lru-cache';
import Type from 'typebox';
import type { Fold } from '../../engine/fold/fold.ts';
import { COIN, parseAsset } from '../../engine/market/asset.ts';
import { intervalStart } from '../../engine/market/resolution.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Answer, Route } from '../gateway/port.ts';
import { route } from '../gateway/route.ts';
import { checkImage } from '../images/header.ts';
import type { ImageStore } from '../images/port.ts';
import type { CardRenderer } from './cardRenderer.ts';
import { type CardFacts, HEIGHT, WIDTH } from './picture.ts';

const SUFFIX = '.png';
/** Some 40 kB each. */
const REMEMBERED = 256;

interface CardDeps {
  readonly node: { readonly fold: Fold };
  readonly renderer: Pick<CardRenderer, 'render'>;
  /** null: there are no logos. */
  readonly images: ImageStore | null;
  /** null: neither launched nor traded here. */
  facts(asset: string): (CardFacts & { readonly logoCID: string }) | null;
}

interface Kept {
  readonly fold: Fold;
  readonly minuteMs: number;
  readonly answer: Promise<Answer | Failure>;
}

export function cardRoute(deps: CardDeps): Route {
  const kept = new LRUCache<string, Kept>({ max: REMEMBERED });
  return route({
    method: 'GET',
    path: '/og/:file',
    operationId: 'tokenPicture',
    tag: 'Page',
    summary: 'A token as a picture, for links',
    description:
      `\`<asset id>.png\`, ${WIDTH} × ${HEIGHT}: name, ticker, price, market cap, the last 24 ` +
      'hours, progress to graduation and the logo. Drawn at most once for a token and a minute.',
    params: Type.Object({ file: Type.String({ maxLength: 160 }) }),
    answers: { 200: { description: 'The picture', type: 'image/png' } },
    causes: ['INVALID_PARAMS', 'ASSET_NOT_FOUND', 'OVERLOADED'],
    rate: 'build',
    needsSync: true,
    positioned: false,
    etag: true,
    handle({ params: { file } }) {
      const asset = assetOf(file);
      if (asset === null) {
        const message = `The picture of a token is /og/<asset id>.png; this is none: ${file}`;
        return new Failure('ASSET_NOT_FOUND', message);
      }
      const { fold } = deps.node;
      const minuteMs = intervalStart('min1', fold.marketMs);
      const known = kept.get(asset);
      if (known?.fold === fold && known.minuteMs === minuteMs) return known.answer;
      const facts = deps.facts(asset);
      if (facts === null) {
        return new Failure('ASSET_NOT_FOUND', `No token ${asset} was launched or traded here.`);
      }
      const answer = drawn(deps, facts);
      kept.set(asset, { fold, minuteMs, answer });
      void answer.then((settled) => {
        if (settled instanceof Failure && kept.peek(asset)?.answer === answer) kept.delete(asset);
      });
      return answer;
    },
  });
}

/** null: it names none. */
function assetOf(file: string): string | null {
  const asset = file.endsWith(SUFFIX) ? parseAsset(file.slice(0, -SUFFIX.length)) : null;
  return asset === COIN ? null : asset;
}

async function drawn(
  { renderer, images }: CardDeps,
  facts: NonNullable<ReturnType<CardDeps['facts']>>,
): Promise<Answer | Failure> {
  const logo = await logoOf(images, facts.logoCID);
  const png = await renderer.render({ facts, logo });
  if (png instanceof Failure) return png;
  const headers = { 'Cache-Control': 'public, max-age=60', 'X-Content-Type-Options': 'nosniff' };
  return { body: Buffer.from(png), type: 'image/png', headers };
}

/** null: there is none that may be decoded. */
async function logoOf(images: ImageStore | null, cid: string) {
  const found = cid === '' ? null : await images?.get(cid);
  if (found === null || found === undefined || found instanceof Failure) return null;
  const { bytes, mediaType } = found;
  return checkImage(bytes, mediaType) instanceof Failure ? null : { bytes, mediaType };
}
