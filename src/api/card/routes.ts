/** `/og/<asset>.png`: the picture that chats show beside a link to a token. */
import Type from 'typebox';
import type { Fold } from '../../engine/fold/fold.ts';
import { type AssetId, COIN, parseAsset } from '../../engine/market/asset.ts';
import { multipleText } from '../../engine/market/multiple.ts';
import { spotOf } from '../../engine/market/pool.ts';
import { intervalStart } from '../../engine/market/resolution.ts';
import { HEIGHT, WIDTH } from '../../engine/market/svgPicture.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { VersionedCache } from '../../engine/runtime/versionedCache.ts';
import { firstPoolState, poolState } from '../../engine/store/records.ts';
import type { Answer, Route } from '../gateway/port.ts';
import { route } from '../gateway/route.ts';
import { checkImage } from '../images/header.ts';
import type { ImageStore } from '../images/port.ts';
import type { CardRenderer } from './cardRenderer.ts';
import type { CardFacts } from './picture.ts';

const SUFFIX = '.png';
/** Some 40 kB each. */
const REMEMBERED = 256;

type TickerFacts = Omit<CardFacts, 'multiple'> & { readonly logoCID: string };

interface CardDeps {
  readonly node: { readonly fold: Fold };
  readonly renderer: Pick<CardRenderer, 'render'>;
  /** null: there are no logos. */
  readonly images: ImageStore | null;
  /** For how long others may keep a picture; 0 where a token may begin again with the same id. */
  readonly maxAgeSeconds: number;
  /** null: neither launched nor traded here. */
  facts(asset: string): TickerFacts | null;
}

interface Version {
  readonly fold: Fold;
  readonly minuteMs: number;
}

export function cardRoute(deps: CardDeps): Route {
  const kept = new VersionedCache<string, Promise<Answer | Failure>, Version>({ max: REMEMBERED });
  return route({
    method: 'GET',
    path: '/og/:file',
    operationId: 'tokenPicture',
    tag: 'Page',
    summary: 'A token as a picture, for links',
    description:
      `\`<asset id>.png\`, ${WIDTH} × ${HEIGHT}: name, ticker, price, market cap, the last 24 ` +
      'hours, the multiple of the price at launch, progress to graduation, and the logo, whose ' +
      'main colour the picture has. Drawn at most once for a token and a minute.',
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
      const isSame = (before: Version) => before.fold === fold && before.minuteMs === minuteMs;
      const known = kept.find(asset, { fold, minuteMs }, isSame);
      if (known !== undefined) return known;
      const facts = deps.facts(asset);
      if (facts === null) {
        return new Failure('ASSET_NOT_FOUND', `No token ${asset} was launched or traded here.`);
      }
      const multiple = multipleOf(fold, asset);
      const answer = kept.set(asset, { fold, minuteMs }, drawn(deps, { ...facts, multiple }));
      const forget = () => {
        if (kept.last(asset)?.value === answer) kept.delete(asset);
      };
      void answer.then((settled) => settled instanceof Failure && forget(), forget);
      return answer;
    },
  });
}

/** null: it names none. */
function assetOf(file: string): string | null {
  const asset = file.endsWith(SUFFIX) ? parseAsset(file.slice(0, -SUFFIX.length)) : null;
  return asset === COIN ? null : asset;
}

/** null: it has no pool, or its launch was not seen here. */
function multipleOf(fold: Fold, asset: AssetId): string | null {
  const pool = fold.directory.find(asset)?.pool ?? null;
  if (pool === null || pool.createdMs !== pool.firstMs) return null;
  const [now, then] = [spotOf(poolState(pool)), spotOf(firstPoolState(pool))];
  return multipleText({
    numerator: now.numerator * then.denominator,
    denominator: now.denominator * then.numerator,
  });
}

async function drawn(
  { renderer, images, maxAgeSeconds }: CardDeps,
  facts: CardFacts & { readonly logoCID: string },
): Promise<Answer | Failure> {
  const logo = await logoOf(images, facts.logoCID);
  const png = await renderer.render({ facts, logo });
  if (png instanceof Failure) return png;
  const cached = `public, max-age=${maxAgeSeconds}`;
  const headers = { 'Cache-Control': cached, 'X-Content-Type-Options': 'nosniff' };
  return { body: Buffer.from(png), type: 'image/png', headers };
}

/** null: there is no logo that is safe to decode. */
async function logoOf(images: ImageStore | null, cid: string) {
  const found = cid === '' ? null : await images?.get(cid);
  if (found === null || found === undefined || found instanceof Failure) return null;
  const { bytes, mediaType } = found;
  return checkImage(bytes, mediaType) instanceof Failure ? null : { bytes, mediaType };
}
