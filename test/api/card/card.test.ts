/** Pictures of tokens: their text, a hostile name or logo, and a renderer that dies. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { crc32, deflateSync } from 'node:zlib';
import { decode } from 'fast-png';
import { CardRenderer } from '../../../src/api/card/cardRenderer.ts';
import { type CardFacts, cardSvg, type Drawn } from '../../../src/api/card/picture.ts';
import { cardRoute } from '../../../src/api/card/routes.ts';
import { HEIGHT, WIDTH } from '../../../src/engine/market/svgPicture.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { wholeOf } from '../../support/askRoute.ts';
import type { Scope } from '../../support/server.ts';

const ASSET = `${'ab'.repeat(28)}.746f6b`;
const FACTS: CardFacts & { readonly logoCID: string } = {
  asset: ASSET,
  name: 'Moon Rocket',
  ticker: 'RKT',
  price: '0.000007954321',
  marketCap: '12345.678901',
  change24h: '-3.21',
  changeBasis: {},
  progress: '63.21',
  graduated: false,
  spark: { closes: [null, '0.1', '0.3', '0.2'] },
  multiple: '2.3×',
  logoCID: '',
};

const BARE: Drawn = { logo: null, hue: null, missing: new Set() };

/** The texts of all text elements, in order. */
function textsOf(svg: string): string[] {
  return [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text = '']) => text);
}

function png(width: number, height: number, data: Uint8Array): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits each of red, green and blue.
  header.set([8, 2, 0, 0, 0], 8);
  const chunk = (type: string, body: Uint8Array) => {
    const named = Buffer.concat([Buffer.from(type, 'latin1'), body]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(body.length);
    sum.writeUInt32BE(crc32(named));
    return Buffer.concat([length, named, sum]);
  };
  const magic = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  const chunks = [chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([magic, ...chunks]);
}

function redSquare(side: number): Buffer {
  const row = Buffer.concat([
    Buffer.from([0]),
    Buffer.alloc(3 * side).fill(Buffer.from('ff0000', 'hex')),
  ]);
  return png(side, side, deflateSync(Buffer.concat(Array.from({ length: side }, () => row))));
}

function newRenderer(scope: Scope): CardRenderer {
  const renderer = new CardRenderer(systemClock, (error) => assert.fail(String(error)));
  scope.after(() => renderer.stop());
  return renderer;
}

async function drawnBy(
  renderer: CardRenderer,
  logo: Buffer | null,
  facts = FACTS,
): Promise<Buffer> {
  const bytes = logo === null ? null : { bytes: logo, mediaType: 'image/png' };
  const drawn = await renderer.render({ facts, logo: bytes });
  assert(!(drawn instanceof Failure), String(drawn));
  return Buffer.from(drawn);
}

interface Picture {
  readonly width: number;
  readonly height: number;
  /** Four bytes a pixel. */
  readonly data: Uint8Array;
}

/** By a decoder that is not ours. */
function decodePng(bytes: Uint8Array): Picture {
  const { width, height, data, channels } = decode(bytes, { checkCrc: true });
  assert.equal(channels, 4);
  return { width, height, data: Uint8Array.from(data) };
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

function outsideOf({ width, height, data }: Picture, { left, right, top, bottom }: Box): string {
  const kept = Buffer.from(data);
  for (let y = Math.max(0, top); y < Math.min(height, bottom); y += 1) {
    kept.fill(0, 4 * (y * width + left), 4 * (y * width + right));
  }
  return hashOf(kept);
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

test('a card says name, ticker, price, market cap, change and progress', () => {
  assert.deepEqual(textsOf(cardSvg(FACTS, BARE)), [
    'M',
    'Moon Rocket',
    'RKT',
    'Price',
    '0.0₅7954 ₳',
    'Market cap',
    '12.3k ₳',
    '24 hours',
    '−3.21 %',
    '2.3×',
    '63.2 % of the curve',
    'upcurve',
  ]);
  const young = { ...FACTS, marketCap: null, change24h: null, progress: null, multiple: null };
  const texts = textsOf(cardSvg(young, BARE));
  assert.deepEqual(texts.slice(3), ['Price', '0.0₅7954 ₳', 'upcurve']);
  const risen = { change24h: '25.00', changeBasis: { '24h': { since: 'launch' } } };
  const launched = cardSvg({ ...FACTS, ...risen, spark: { closes: ['0.0001'] } }, BARE);
  assert(textsOf(launched).includes('Since launch'), 'the change of a young token is marked');
  assert.match(launched, /polyline points="60\.0,524\.0 1140\.0,394\.0"/, 'up from the launch');
  const done = { ...FACTS, graduated: true, progress: '100' };
  assert(textsOf(cardSvg(done, BARE)).includes('Graduated'));
});

test('a hostile name is text, cut to the card; a name without letters of ours is replaced', () => {
  const name = `</text><image href="https://evil.example/x"/>\u202e&${'W'.repeat(999)}`;
  const svg = cardSvg({ ...FACTS, name, ticker: '\ud800\u0000<x>' }, BARE);
  assert(!svg.includes('<image'), svg);
  const [, shown = '', ticker] = textsOf(svg);
  assert(shown.startsWith('&lt;/text&gt;') && shown.endsWith('…'), shown);
  assert.equal(ticker, '&lt;x&gt;');
  const missing = new Set('火箭');
  const named = (name: string, ticker = 'RKT') =>
    textsOf(cardSvg({ ...FACTS, name, ticker }, { ...BARE, missing }))[1];
  assert.equal(named('火箭'), 'RKT');
  assert.equal(named('火箭 Moon'), 'Moon');
  assert.equal(named('火箭', '火'), `${ASSET.slice(0, 12)}…`);
  assert.equal(named('🚀🚀'), '🚀🚀', 'emoji are a name');
});

test('emoji and CJK are drawn; what no typeface has is left out', async (t) => {
  const renderer = newRenderer(t);
  const named = async (name: string) => hashOf(await drawnBy(renderer, null, { ...FACTS, name }));
  const names = [
    'Moon',
    'Moon 火',
    'Moon 箭',
    'Moon ロ',
    'Moon 로',
    'Moon 🚀',
    'Moon 👨‍👩‍👧',
    'Moon 🇩🇪',
  ];
  const drawn = new Set(await Promise.all(names.map(named)));
  assert.equal(drawn.size, names.length, 'each is another picture');
  const plain = await named('Moon');
  for (const lacking of ['ไ', 'ह', '\u{20000}', '፩']) {
    assert.equal(await named(`Moon ${lacking}`), plain, `${lacking} is left out`);
    assert.notEqual(await named(`${lacking} Moon 火`), plain, 'and hides nothing beside it');
  }
});

test('hostile names stay in their box: all around it the picture is the same', async (t) => {
  const renderer = newRenderer(t);
  const names = [
    `Z${'\u0301'.repeat(10_000)}algo`,
    `${'W'.repeat(5_000)}`,
    '🚀'.repeat(5_000),
    `\u202e\u2066abc\u200b${'월'.repeat(500)}`,
    'ﷺ'.repeat(100),
    `${'\u0e47'.repeat(500)}x${'\u0489'.repeat(300)}`,
  ];
  const outside = async (name: string) => {
    const logo = redSquare(300);
    const png = await drawnBy(renderer, logo, { ...FACTS, name, ticker: name });
    return outsideOf(decodePng(png), { left: 260, right: 1145, top: 0, bottom: 215 });
  };
  const plain = await outside('Moon');
  for (const name of names) assert.equal(await outside(name), plain, name.slice(0, 20));
});

test('the picture has the colour of the logo', async (t) => {
  const renderer = newRenderer(t);
  const accentAt = (png: Buffer) => {
    const { data, width } = decodePng(png);
    return [...data.subarray(4 * (5 * width + 600), 4 * (5 * width + 600) + 3)];
  };
  const [red = 0, green = 0, blue = 0] = accentAt(await drawnBy(renderer, redSquare(300)));
  assert(red > green + 50 && red > blue + 50, `${[red, green, blue]}`);
});

test('the picture is a PNG of 1200 × 630 that shows text and logo', async (t) => {
  const renderer = newRenderer(t);
  const plain = await drawnBy(renderer, null);
  assert.equal(plain.subarray(1, 4).toString(), 'PNG');
  assert.deepEqual([plain.readUInt32BE(16), plain.readUInt32BE(20)], [WIDTH, HEIGHT]);
  assert.equal(hashOf(await drawnBy(renderer, null)), hashOf(plain), 'the same each time');
  const named = await drawnBy(renderer, null, { ...FACTS, name: 'Moon Rockets' });
  assert.notEqual(hashOf(named), hashOf(plain), 'the typeface is there');
  assert.notEqual(hashOf(await drawnBy(renderer, redSquare(300))), hashOf(plain));
});

test('a logo that cannot be decoded is left out', async (t) => {
  const renderer = newRenderer(t);
  const plain = hashOf(await drawnBy(renderer, null));
  const torn = redSquare(300).subarray(0, 200);
  assert.equal(hashOf(await drawnBy(renderer, torn)), plain);
  const noise = Buffer.concat([redSquare(8).subarray(0, 33), Buffer.alloc(5_000, 7)]);
  assert.equal(hashOf(await drawnBy(renderer, noise)), plain);
});

test('a renderer that is killed refuses its card, and the next one starts another', async (t) => {
  const renderer = newRenderer(t);
  await drawnBy(renderer, null);
  const { pid } = renderer;
  assert(pid !== null);
  const [first, second] = [drawnBy(renderer, null).catch(String), drawnBy(renderer, null)];
  process.kill(pid, 'SIGKILL');
  // The kill may come before or after the first answer.
  await first;
  await second;
  assert.notEqual(renderer.pid, pid);
  const many = Array.from({ length: 20 }, () => renderer.render({ facts: FACTS, logo: null }));
  const refused = (await Promise.all(many)).filter((answer) => answer instanceof Failure);
  assert.deepEqual([...new Set(refused.map(({ cause }) => cause))], ['OVERLOADED']);
  assert.equal(refused.length, 4);
});

test('the route draws once a minute, refuses unknown tokens, leaves out huge logos', async () => {
  const fold = { marketMs: 120_000, directory: { find: () => null } };
  const asked: unknown[] = [];
  let isBroken = true;
  const bomb = png(60_000, 60_000, deflateSync(Buffer.alloc(1_000_000)));
  const logos = new Map([
    ['bomb', bomb],
    ['small', redSquare(4)],
  ]);
  let logoCID = 'bomb';
  const route = cardRoute({
    // trust: the route reads no more of a fold than its time and pools
    node: { fold: fold as never },
    maxAgeSeconds: 60,
    renderer: {
      async render({ logo }) {
        asked.push(logo?.mediaType ?? null);
        return isBroken ? new Failure('OVERLOADED', 'busy') : Buffer.from('png');
      },
    },
    images: {
      put: async () => new Failure('SERVER_ERROR', 'none'),
      get: async (cid) => {
        const bytes = logos.get(cid);
        return bytes === undefined ? null : { bytes, mediaType: 'image/png' };
      },
    },
    facts: (asset) => (asset === ASSET ? { ...FACTS, logoCID } : null),
  });
  const ask = async (file: string) => {
    const answer = await wholeOf(route.handle({ params: { file }, query: {}, body: undefined }));
    return answer instanceof Failure ? answer.cause : (answer.type ?? '');
  };
  assert.equal(await ask(`${ASSET}.png`), 'OVERLOADED');
  isBroken = false;
  assert.equal(await ask(`${ASSET}.png`), 'image/png', 'a failure is not remembered');
  assert.equal(await ask(`${ASSET.toUpperCase()}.png`), 'image/png');
  assert.deepEqual(asked, [null, null], 'a picture is remembered, a logo of 60,000² left out');
  fold.marketMs += 60_000;
  logoCID = 'small';
  assert.equal(await ask(`${ASSET}.png`), 'image/png');
  assert.deepEqual(asked, [null, null, 'image/png']);
  for (const file of [`${'00'.repeat(28)}.00.png`, `${ASSET}.jpg`, '..png', 'x.png']) {
    assert.equal(await ask(file), 'ASSET_NOT_FOUND', file);
  }
});
