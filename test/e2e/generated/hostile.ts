/** Requests of an attacker that try to end the process; some are no HTTP at all. */
import fc from 'fast-check';
import { type Ask, askOf, contentOf, type Draft, formBytes } from './draft.ts';
import { PLACE } from './mutations.ts';

const CRLF = '\r\n';
const TEXTS = [
  '__proto__',
  'constructor.prototype',
  "' OR 1=1; DROP TABLE orders;--",
  '" UNION SELECT key, value FROM market --',
  '../../../../etc/passwd',
  '..\\..\\keys.json',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what others expand
  '${jndi:ldap://x}{{7*7}}<script>',
  '%',
  '_%_',
  '.*+?^()[]|',
  '(a+)+$',
  'a'.repeat(3_000),
  '\u0000\u0001\u001b[2J',
  '\u202e\u200f\u2066',
  '\ud83d\ude00'.repeat(200),
  '1e999',
  '-0',
];
const PATHS = [
  '/ipfs/..%2f..%2fkeys.json',
  '/ipfs/..',
  '/ipfs/%2e%2e',
  '/ipfs/%00',
  '/ipfs/.part',
  '/docs/../../keys.json',
  '/docs/%2e%2e/%2e%2e/keys.json',
  '//etc/passwd',
  '/%',
  '/%ff%fe',
  '/__proto__',
  '/constructor',
  '/.git/config',
  '/v1/vesting/get-by-asset/%',
  '/v1/vesting/get-by-asset/..',
  '/*',
  '/:asset',
  '/ws',
  '/;',
];

/** CBOR that claims more than it holds, or is deep. */
function cborBombs(): string[] {
  const deep = (head: string, depth: number) => head.repeat(depth);
  return [
    '9b000000ffffffffff',
    '5b7fffffffffffffff00',
    '84bbffffffffffffffff',
    '84a30081825820',
    deep('81', 16_000),
    deep('9f', 16_000),
    deep('a100', 8_000),
    deep('d879', 8_000),
    deep('c2', 16_000),
    '5f'.repeat(5_000),
    `84a0a0f5${'f6'.repeat(10_000)}`,
    '84a0a0f5f6',
    '84a400818258200000000000000000000000000000000000000000000000000000000000000000000180020003000',
    'f97e00',
    'ff',
    '00'.repeat(30_000),
  ];
}

const HEX = /^([0-9a-f]{2}){2,}$/i;

/** Texts of a body, one after the other, as `change` makes them. */
function leaves(
  value: unknown,
  change: (text: string, name: string) => unknown,
  name = '',
): unknown {
  if (typeof value === 'string') return change(value, name);
  if (Array.isArray(value)) return value.map((item) => leaves(item, change, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, leaves(field, change, key)]),
  );
}

function flipped(hex: string, place: number): string {
  const at = place % hex.length;
  const digit = (Number.parseInt(hex.charAt(at), 16) ^ (1 + (place % 15))).toString(16);
  return hex.slice(0, at) + digit + hex.slice(at + 1);
}

/** Whole requests with values that mean harm: judged as strictly as any. */
function wholes(draft: Draft, place: number): Draft[] {
  const text = TEXTS[place % TEXTS.length] ?? '';
  const bombs = cborBombs();
  const bomb = bombs[place % bombs.length] ?? '';
  const encoded = encodeURIComponent(text);
  const target = PATHS[place % PATHS.length] ?? '/';
  const body = (change: (leaf: string, name: string) => unknown): Draft => {
    return draft.body === undefined ? draft : { ...draft, body: leaves(draft.body, change) };
  };
  return [
    { ...draft, path: target, pairs: [] },
    { ...draft, pairs: draft.pairs.map(([name]) => [name, encoded]) },
    { ...draft, pairs: [...draft.pairs, [encoded.slice(0, 500), encoded]] },
    { ...draft, pairs: draft.pairs.map(([name, value]) => [name, `${value}%00`]) },
    { ...draft, headers: [['If-None-Match', 'W/"'.repeat(500)]] },
    { ...draft, headers: [['X-Forwarded-For', '1,'.repeat(1_000)]] },
    body(() => text),
    body((leaf) => (HEX.test(leaf) ? bomb : leaf)),
    body((leaf) => (HEX.test(leaf) ? flipped(leaf, place) : leaf)),
    body((leaf) => (HEX.test(leaf) ? leaf.slice(0, 2 * (place % 40)) : leaf)),
    body((leaf, name) => (name === 'witness' ? bomb : leaf)),
    body((leaf, name) => (name === 'witness' ? flipped(leaf, place) : leaf)),
  ];
}

/** A form with parts missing, doubled, nested, cut, or with images that are none. */
function forms(draft: Draft, place: number): Draft {
  if (!draft.isForm) return draft;
  const info = Buffer.from(JSON.stringify(draft.body));
  const image = (bytes: Buffer, type = 'image/png') => ({
    head: `name="image"; filename="../../a.png"\r\nContent-Type: ${type}`,
    bytes,
  });
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  const gif = Buffer.from('47494638396100100010', 'hex');
  const whole = contentOf(draft) ?? Buffer.alloc(0);
  const shapes: readonly (() => Buffer)[] = [
    () => formBytes([{ head: 'name="info"', bytes: info }]),
    () => formBytes([image(png)]),
    () => formBytes([image(png), { head: 'name="info"', bytes: info }]),
    () => formBytes([image(gif, 'image/gif'), { head: 'name="info"; filename="i"', bytes: info }]),
    () => formBytes([image(png, 'text/html'), { head: 'name="info"', bytes: info }]),
    () => formBytes([image(Buffer.alloc(0)), { head: 'name="info"', bytes: info }]),
    () => formBytes(Array.from({ length: 20 }, () => ({ head: 'name="info"', bytes: info }))),
    () => formBytes([{ head: 'name="__proto__"', bytes: info }, image(png)]),
    () => formBytes([{ head: 'name="info"', bytes: Buffer.from('{"name":') }, image(png)]),
    () => formBytes([{ head: 'name=info\r\nX: ', bytes: info }, image(png)]),
    () => formBytes([{ head: 'name="info"', bytes: info }, image(Buffer.alloc(5_300_000, 137))]),
    () => whole.subarray(0, place % whole.length),
    () => Buffer.concat([whole, whole]),
    () => Buffer.concat([whole.subarray(0, place % whole.length), whole.subarray(1)]),
    () => Buffer.alloc(6_291_457, 45),
    () => Buffer.from(whole.toString('latin1').replaceAll('\r\n', '\n'), 'latin1'),
  ];
  return { ...draft, bytes: shapes[place % shapes.length]?.() ?? whole };
}

/**
 * Bytes that are not one whole request: any answer is fine, and so is none; the process must stay
 * alive.
 */
function bare(draft: Draft, place: number, noise: Uint8Array): Buffer {
  const { bytes } = askOf('hostile', draft);
  const head = `${draft.method} ${draft.path} HTTP/1.1${CRLF}Host: localhost${CRLF}`;
  const text = (value: string) => Buffer.from(value, 'latin1');
  const line = (value: string) => text(`${head}${value}${CRLF}${CRLF}`);
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
  const shapes: readonly (() => Buffer)[] = [
    () => Buffer.from(noise),
    () => Buffer.concat([text('GET / HTTP/1.1\r\n'), noise, text('\r\n\r\n')]),
    () => bytes.subarray(0, place % bytes.length),
    () => Buffer.concat([bytes.subarray(0, 9), noise, bytes.subarray(9)]),
    () => line(`X: a\u0000b\nc`),
    () => line(Array.from({ length: 150 }, (_, i) => `X-${i}: ${'v'.repeat(20)}`).join(CRLF)),
    () => line(`X: ${'v'.repeat(100_000)}`),
    () => text(`GET /${'a'.repeat(9_000 + (place % 90_000))} HTTP/1.1${CRLF}Host: a${CRLF}${CRLF}`),
    () => line(`Content-Length: ${'9'.repeat(1 + (place % 30))}`),
    () => line('Content-Length: -1'),
    () => line('Content-Length: 5\r\nContent-Length: 6'),
    () => line('Content-Length: 5\r\nTransfer-Encoding: chunked'),
    () => Buffer.concat([line('Transfer-Encoding: chunked'), text('ffffffffffffffff\r\nabc')]),
    () => Buffer.concat([line('Transfer-Encoding: chunked'), text('zz\r\n'), noise]),
    () => line('Host: b'),
    () => text(`${draft.method} ${draft.path} HTTP/1.1${CRLF}${CRLF}`),
    () => text(`${draft.method} ${draft.path} HTTP/3.0${CRLF}Host: a${CRLF}${CRLF}`),
    () => text(`${draft.method} ${draft.path}\n\n`),
    () => text(`get http://evil${draft.path} HTTP/1.1${CRLF}Host: a${CRLF}${CRLF}`),
    () => text(`CONNECT a:1 HTTP/1.1${CRLF}Host: a${CRLF}${CRLF}`),
    () => line('Expect: 100-continue\r\nContent-Length: 10'),
    () => Buffer.concat([bytes, bytes, bytes]),
    () =>
      line(`${upgrade}Sec-WebSocket-Key: ${'x'.repeat(place % 60)}\r\nSec-WebSocket-Version: 13`),
    () => text(`GET /ws HTTP/1.1\r\nHost: a\r\n${upgrade}Sec-WebSocket-Version: 13\r\n\r\n`),
    () => text('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    () => Buffer.from('160301020001fc0303', 'hex'),
  ];
  return shapes[place % shapes.length]?.() ?? Buffer.from(noise);
}

export function hostile(draft: fc.Arbitrary<Draft>): fc.Arbitrary<Ask> {
  const noise = fc.uint8Array({ minLength: 1, maxLength: 200 });
  return fc.tuple(draft, PLACE, PLACE, noise).map(([valid, kind, place, some]): Ask => {
    const { method, path } = valid;
    if (kind % 4 === 0) {
      return { kind: 'hostile', method, path, bytes: bare(valid, place, some), isBare: true };
    }
    if (valid.isForm && kind % 2 === 0) return askOf('hostile', forms(valid, place));
    const shapes = wholes(valid, place >> 3);
    return askOf('hostile', shapes[(kind >> 2) % shapes.length] ?? valid);
  });
}
