/** Every refusal of /launch over HTTP, and that a refused one leaves nothing behind. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pictureOf } from '../../../src/client/trade/picture.ts';
import { ADA, answerOf, DevnetWorld, textField } from '../../e2e/devnet/world.ts';
import { png } from '../images/samples.ts';
import { named, serverOutputs, wrongAddresses } from './table.ts';

interface Row {
  readonly what: string;
  readonly form: FormData;
  readonly status: number;
  readonly cause: string;
  /** Path of the first detail. */
  readonly at?: string;
  readonly says?: RegExp;
}

interface Picture {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
}

const PICTURE: Picture = { bytes: pictureOf('launch'), type: 'image/png' };

function formOf(info: unknown, { bytes, type }: Picture = PICTURE): FormData {
  const form = new FormData();
  form.set('image', new Blob([bytes], { type }), 'logo');
  form.set('info', typeof info === 'string' ? info : JSON.stringify(info));
  return form;
}

/** A PNG that says to be of this size; nothing decodes it. */
function pictureSaying(width: number, height: number): Uint8Array<ArrayBuffer> {
  const bytes = pictureOf('size');
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  view.setUint32(16, width);
  view.setUint32(20, height);
  return bytes;
}

function padded(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(length);
  all.set(bytes);
  return all;
}

function imageRows(info: object): Row[] {
  const row = (what: string, picture: Picture): Row => {
    const at = 'body.image';
    return { what, form: formOf(info, picture), status: 400, cause: 'INVALID_PARAMS', at };
  };
  const { bytes } = PICTURE;
  const text = new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg"/>');
  return [
    row('an SVG', { bytes: text, type: 'image/svg+xml' }),
    row('a PNG without its end', { bytes: bytes.slice(0, -12), type: 'image/png' }),
    row('no type', { bytes, type: '' }),
    row('WebP', { bytes, type: 'image/webp' }),
    row('a PNG that says it is a GIF', { bytes, type: 'image/gif' }),
    row('text that says it is a PNG', { bytes: text, type: 'image/png' }),
    row('nothing', { bytes: new Uint8Array(0), type: 'image/png' }),
    row('a magic and no more', { bytes: bytes.slice(0, 8), type: 'image/png' }),
    row('4097 pixels wide', { bytes: pictureSaying(4097, 1), type: 'image/png' }),
    row('4097 pixels high', { bytes: pictureSaying(1, 4097), type: 'image/png' }),
    row('no pixels', { bytes: pictureSaying(0, 1), type: 'image/png' }),
    row('5 MiB and a byte', { bytes: padded(bytes, 5 * 1_048_576 + 1), type: 'image/png' }),
  ];
}

function infoRows(info: Readonly<Record<string, unknown>>): Row[] {
  const row = (field: string, value: unknown, at = `body.info.${field}`): Row => {
    const form = formOf({ ...info, [field]: value });
    const what = `${field} ${JSON.stringify(value)?.slice(0, 40)}`;
    return { what, form, status: 400, cause: 'INVALID_PARAMS', at };
  };
  const each = (field: string, values: readonly unknown[]) => values.map((one) => row(field, one));
  return [
    ...each('name', [undefined, '', '   ', 'a'.repeat(17), '字'.repeat(11), 'a\u0007b', 5, null]),
    ...each('name', ['😀'.repeat(9), 'a\nb', '\ud800', '\u200b', '\u3164', '\u2800', '\u0301']),
    ...each('name', ['a\u202eb', '\u2067a\u2069', 'a\u200f', '\u061ca']),
    ...each('name', ['SNE\u200bK', 'SNE\u00adK', 'Caf\ufffd']),
    ...each('description', ['a\u202eb']),
    ...each('ticker', [undefined, '', 'A'.repeat(7), 'A B', 'Ä', '$A', 7]),
    ...each('description', ['😀'.repeat(501), 7, undefined, null]),
    ...['twitter', 'discord', 'telegram', 'website'].flatMap((field) =>
      each(field, ['example.com', 'http://example.com', 'https://u:p@example.com', 'https://', 7]),
    ),
    row('website', `https://example.com/${'a'.repeat(200)}`),
    ...each('assetType', ['Coin', 'meme', 7, undefined, null, '']),
    ...each('launchType', ['default', 'OTHER']),
    ...each('initialDeposit', ['-1', '1.5', 'x', 5, '999999', String(18_189n * ADA)]),
    ...each('changeAddress', [undefined, '', ...wrongAddresses().map(([, text]) => text)]),
    ...each('utxos', ['my-wallet', ['zz'], 5]),
    row('utxos', ['ffff'], 'body.utxos.0'),
    row('utxos', [named({ txHash: 'ee'.repeat(32), index: 0 })], 'body.utxos'),
    row('collaterals', ['ffff'], 'body.collaterals.0'),
  ];
}

function formRows(info: object): Row[] {
  const base = { status: 400, cause: 'INVALID_PARAMS' } as const;
  const bare = formOf(info);
  bare.delete('image');
  const blank = formOf(info);
  blank.delete('info');
  const twice = formOf(info);
  twice.append('info', JSON.stringify(info));
  const text = formOf(info);
  text.set('image', 'a text');
  const large = formOf(info, { bytes: new Uint8Array(6_300_000), type: 'image/png' });
  const latin = formOf(info);
  const bytes = Buffer.from(JSON.stringify({ ...info, name: 'Caf\u00e9' }), 'latin1');
  latin.set('info', new Blob([bytes], { type: 'application/json' }), 'info.json');
  return [
    { what: 'no image', form: bare, ...base, at: 'body.image' },
    { what: 'no info', form: blank, ...base, at: 'body.info' },
    { what: 'info twice', form: twice, ...base, at: 'body.info' },
    { what: 'an image that is a text', form: text, ...base, at: 'body.image' },
    { what: 'info in Latin-1', form: latin, ...base, at: 'body.info' },
    { what: 'info that is no JSON', form: formOf('{'), ...base, at: 'body.info' },
    { what: 'info that is a list', form: formOf([]), ...base, at: 'body.info' },
    { what: 'a body above 6 MiB', form: large, status: 413, cause: 'PAYLOAD_TOO_LARGE' },
  ];
}

async function assertRefused(world: DevnetWorld, rows: readonly Row[]): Promise<void> {
  const images = join(world.directory, 'images');
  for (const { what, form, status, cause, at, says } of rows) {
    const response = await fetch(`${world.url}/launch`, { method: 'POST', body: form });
    const answer = await answerOf(response);
    const got = `${what}: ${JSON.stringify(answer.body).slice(0, 300)}`;
    assert.deepEqual([answer.status, answer.cause], [status, cause], got);
    const [first]: unknown[] = Reflect.get(Object(answer.body), 'details') ?? [];
    if (at !== undefined) assert.ok((textField(first, 'path') ?? '').startsWith(at), got);
    if (says !== undefined) assert.match(answer.message, says, got);
    assert.deepEqual(readdirSync(images), [], `${what} leaves nothing behind`);
  }
}

test('launches are refused as the contract says, and leave nothing behind', async (t) => {
  const world = await DevnetWorld.start(t);
  const alice = await world.funded('alice', 100, 2);
  const poor = await world.funded('poor', 5);
  const { address: changeAddress } = alice.wallet;
  const info = { name: 'Launch', ticker: 'GO', description: 'x', changeAddress, assetType: 'Meme' };

  await t.test('forms', () => assertRefused(world, formRows(info)));
  await t.test('images', () => assertRefused(world, imageRows(info)));
  await t.test('info', () => assertRefused(world, infoRows(info)));
  await t.test('outputs of the server', async () => {
    const rows = (await serverOutputs(world)).flatMap(([what, ref]): Row[] => {
      const base = { what, status: 400, cause: 'INVALID_PARAMS' } as const;
      return [
        { ...base, form: formOf({ ...info, utxos: [named(ref)] }), at: 'body.utxos' },
        { ...base, form: formOf({ ...info, collaterals: [named(ref)] }), at: 'body.collaterals' },
      ];
    });
    assert.equal(rows.length, 4);
    await assertRefused(world, rows);
  });
  await t.test('a wallet with too little, whose message says what is missing', () => {
    const form = formOf({ ...info, changeAddress: poor.wallet.address });
    const says = /wallet lacks \d+ lovelace.*\d+ of it for the metadata/;
    const row = { what: 'poor', form, status: 500, cause: 'SERVER_ERROR', says };
    return assertRefused(world, [row]);
  });
  await t.test('another media type, another method', async () => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
    const json = await answerOf(await fetch(`${world.url}/launch`, init));
    assert.deepEqual([json.status, json.cause], [415, 'UNSUPPORTED_MEDIA_TYPE']);
    const got = await world.get('/launch');
    assert.deepEqual([got.status, got.cause], [405, 'METHOD_NOT_ALLOWED']);
  });
  await t.test('the largest that is allowed is built, and its image served', async () => {
    const url = `https://example.com/${'a'.repeat(180)}`;
    const social = { twitter: url, discord: url, telegram: url, website: url };
    const largest = {
      ...info,
      ...social,
      name: `${'字'.repeat(10)}ab`,
      description: '😀'.repeat(500),
      initialDeposit: '5000000',
      launchType: 'HYPED',
    };
    const bytes = new Uint8Array(png(64, 64, Buffer.alloc(5 * 1_048_576 - 57)));
    const form = formOf(largest, { bytes, type: 'image/png' });
    const answer = await answerOf(
      await fetch(`${world.url}/launch`, { method: 'POST', body: form }),
    );
    assert.equal(answer.status, 200, answer.message);
    const cid = textField(answer.body, 'logoCID') ?? '';
    assert.deepEqual(readdirSync(join(world.directory, 'images')), [cid]);
    const served = await fetch(`${world.url}/ipfs/${cid}`);
    assert.deepEqual(new Uint8Array(await served.arrayBuffer()), bytes);
    const { asset } = await alice.launch({
      ...social,
      name: largest.name,
      ticker: 'GO',
      description: largest.description,
      assetType: 'AI',
      launchType: 'HYPED',
      initialLovelace: 5n * ADA,
      image: new Blob([bytes], { type: 'image/png' }),
    });
    await world.mine();
    const { description, logoCID } = world.pool(asset);
    assert.deepEqual([description, logoCID], [largest.description, cid]);
  });
});
