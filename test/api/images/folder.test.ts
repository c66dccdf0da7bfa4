/**
 * Images in a folder: the contract of all stores, and cases that only a folder has (a kill, a
 * broken disk).
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { cidOf } from '../../../src/api/images/cid.ts';
import { ImageFolder } from '../../../src/api/images/folder.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { imagesContract, stored } from '../../contracts/images.ts';
import { fillDisk } from '../../support/fullDisk.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { png } from './samples.ts';

imagesContract('image folder', async (scope) => {
  const directory = join(temporaryDirectory(scope), 'a', 'images');
  return { open: async () => new ImageFolder(directory) };
});

test('after kill -9 every acknowledged image is there, and none half made', async (scope) => {
  const directory = temporaryDirectory(scope);
  for (const target of [3, 40, 80]) {
    const putter = spawn(process.execPath, [join(import.meta.dirname, 'putter.ts'), directory]);
    let said = '';
    putter.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const ended = once(putter, 'close');
    try {
      await until('images are put', () => said.split('\n').length > target, 60_000);
    } finally {
      putter.kill('SIGKILL');
    }
    await ended;
    const folder = new ImageFolder(directory);
    const names = readdirSync(directory);
    assert.deepEqual(
      said
        .split('\n')
        .slice(0, -1)
        .filter((cid) => !names.includes(cid)),
      [],
    );
    for (const name of names) {
      const { bytes } = await stored(folder, name);
      assert.equal(await cidOf(bytes), name);
    }
  }
});

test('under its name a file is whole from the first moment', async (scope) => {
  const directory = temporaryDirectory(scope);
  const folder = new ImageFolder(directory);
  for (let round = 0; round < 5; round += 1) {
    const bytes = png(round + 1, 1, Buffer.alloc(5_000_000, 'moment'));
    const path = join(directory, await cidOf(bytes));
    let isDone = false;
    const put = folder.put(bytes, 'image/png').then(() => {
      isDone = true;
    });
    while (!isDone) {
      const size = statSync(path, { throwIfNoEntry: false })?.size;
      assert.ok(size === undefined || size === bytes.length, `${size} bytes`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await put;
  }
});

test('a file that a crash left incomplete is removed at the start, never served', async (scope) => {
  const directory = temporaryDirectory(scope);
  const bytes = png(5, 5);
  const cid = await cidOf(bytes);
  writeFileSync(join(directory, `${cid}.part`), bytes.subarray(0, 20));
  writeFileSync(join(directory, 'README'), 'mine');
  const folder = new ImageFolder(directory);
  assert.deepEqual(readdirSync(directory), ['README']);
  assert.equal(await folder.get(cid), null);
  assert.equal(await folder.get('README'), null);
  assert.equal(await folder.put(bytes, 'image/png'), cid);
  assert.deepEqual(readdirSync(directory).sort(), ['README', cid]);
});

test('a file that lost bytes is made whole when it is put again', async (scope) => {
  const directory = temporaryDirectory(scope);
  const folder = new ImageFolder(directory);
  const bytes = png(5, 5, Buffer.alloc(1000));
  const cid = String(await folder.put(bytes, 'image/png'));
  truncateSync(join(directory, cid), 100);
  assert.equal(await folder.put(bytes, 'image/png'), cid);
  assert.deepEqual(readFileSync(join(directory, cid)), bytes);
});

test('a file that is no image is not served', async (scope) => {
  const directory = temporaryDirectory(scope);
  const folder = new ImageFolder(directory);
  const page = Buffer.from('<html><script>alert(1)</script>');
  const cid = await cidOf(page);
  writeFileSync(join(directory, cid), page);
  assert.equal(await folder.get(cid), null);
});

test('a disk that refuses is a failure without our paths, and nothing is left', async (scope) => {
  const directory = join(temporaryDirectory(scope), 'images');
  const folder = new ImageFolder(directory);
  const bytes = png(6, 6);
  const cid = await cidOf(bytes);
  const refused = async (code: string) => {
    const answer = await folder.put(bytes, 'image/png');
    assert.ok(answer instanceof Failure);
    assert.deepEqual(
      [answer.cause, answer.message],
      ['NOT_READY', `the image could not be stored: ${code}`],
    );
  };
  rmSync(directory, { recursive: true });
  await refused('ENOENT');
  mkdirSync(join(directory, cid, 'in the way'), { recursive: true });
  await refused('EISDIR');
  const read = await folder.get(cid);
  assert.ok(read instanceof Failure && read.message === 'the image could not be read: EISDIR');
  assert.deepEqual(readdirSync(directory), [cid]);
  rmSync(join(directory, cid), { recursive: true });
  assert.equal(await folder.put(bytes, 'image/png'), cid);
});

test('a full disk takes no image now, and takes it once there is room', async (scope) => {
  const folder = new ImageFolder(join(temporaryDirectory(scope), 'images'));
  const bytes = png(6, 6, Buffer.alloc(5_000, 'large'));
  const makeRoom = fillDisk();
  scope.after(makeRoom);
  const refused = await folder.put(bytes, 'image/png');
  assert.ok(refused instanceof Failure);
  assert.deepEqual([refused.status, refused.retryAfterSeconds], [503, 2]);
  assert.match(refused.message, /stored: EFBIG/);
  makeRoom();
  assert.equal(await folder.put(bytes, 'image/png'), await cidOf(bytes));
});

const BLOCK = 4096;
/** One block on the disk, each another. */
const small = (at: number) => png(at, 1, Buffer.alloc(100, 'small'));

async function putAll(folder: ImageFolder, from: number, to: number): Promise<string[]> {
  const cids: string[] = [];
  for (let at = from; at < to; at += 1) {
    cids.push(String(await folder.put(small(at), 'image/png')));
  }
  return cids;
}

test('a full folder drops the oldest unclaimed images', async (scope) => {
  const directory = temporaryDirectory(scope);
  const claimed = new Set<string>();
  const isClaimed = (cid: string) => claimed.has(cid);
  const folder = new ImageFolder(directory, { maxBytes: 5 * BLOCK, isClaimed });
  const [a = '', b = '', c = '', d = '', e = ''] = await putAll(folder, 1, 6);
  assert.equal(readdirSync(directory).length, 5, 'the bound itself is allowed');
  claimed.add(b);
  assert.equal(await folder.put(small(1), 'image/png'), a, 'put again, it is new again');
  const large = png(1, 1, Buffer.alloc(BLOCK + 1));
  const cid = String(await folder.put(large, 'image/png'));
  assert.deepEqual(readdirSync(directory).sort(), [a, b, e, cid].sort());
  assert.equal(await folder.get(c), null);
  assert.equal(await folder.get(d), null);
  assert.deepEqual((await stored(folder, cid)).bytes, large);
});

test('where all are claimed it refuses, and takes again what it has', async (scope) => {
  const directory = temporaryDirectory(scope);
  let isClaimed = true;
  const options = { maxBytes: 3 * BLOCK, isClaimed: () => isClaimed };
  const folder = new ImageFolder(directory, options);
  const cids = await putAll(folder, 1, 4);
  const answer = await folder.put(small(9), 'image/png');
  assert.ok(answer instanceof Failure && answer.cause === 'NOT_READY');
  assert.match(answer.message, /all the room/);
  assert.deepEqual(readdirSync(directory).sort(), [...cids].sort(), 'nothing went in vain');
  assert.deepEqual(await putAll(folder, 1, 4), cids);
  isClaimed = false;
  assert.equal(await folder.put(small(9), 'image/png'), await cidOf(small(9)));
  const tooLarge = png(1, 1, Buffer.alloc(3 * BLOCK));
  assert.ok((await folder.put(tooLarge, 'image/png')) instanceof Failure);
  assert.equal(readdirSync(directory).length, 3, 'nothing went in vain');
});

test('counts what it finds at a start, and knows the oldest', async (scope) => {
  const directory = temporaryDirectory(scope);
  const cids = await putAll(new ImageFolder(directory), 1, 4);
  for (const [at, cid] of cids.entries()) utimesSync(join(directory, cid), 1000 - at, 1000 - at);
  writeFileSync(join(directory, 'README'), Buffer.alloc(10 * BLOCK));
  const options = { maxBytes: 3 * BLOCK, isClaimed: () => false };
  const folder = new ImageFolder(directory, options);
  const cid = String(await folder.put(small(9), 'image/png'));
  const left = readdirSync(directory).filter((name) => name !== 'README');
  assert.deepEqual(left.sort(), [...cids.slice(0, 2), cid].sort());
});

test('stays below its bound when many come at once, and serves all it has', async (scope) => {
  const directory = temporaryDirectory(scope);
  const options = { maxBytes: 8 * BLOCK, isClaimed: () => false };
  const folder = new ImageFolder(directory, options);
  for (let round = 0; round < 5; round += 1) {
    const images = Array.from({ length: 8 }, (_, at) => small(1 + at + 4 * round));
    const answers = await Promise.all(images.map((bytes) => folder.put(bytes, 'image/png')));
    for (const answer of answers) await stored(folder, String(answer));
    const names = readdirSync(directory);
    assert.ok(names.length <= 8, `${names.length} images`);
  }
});

test('a refused image takes no room', async (scope) => {
  const directory = join(temporaryDirectory(scope), 'images');
  const folder = new ImageFolder(directory, { maxBytes: 2 * BLOCK });
  rmSync(directory, { recursive: true });
  assert.ok((await folder.put(small(1), 'image/png')) instanceof Failure);
  mkdirSync(directory);
  for (const at of [2, 3]) {
    assert.equal(await folder.put(small(at), 'image/png'), await cidOf(small(at)));
  }
});
