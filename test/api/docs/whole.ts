/** The documents name the routes, topics and errors that the process serves, and no others. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { CLOSE_CODES } from '../../../src/api/docs/frames.ts';
import { GATEWAY_DEFAULTS } from '../../../src/api/gateway/options.ts';
import { Books } from '../../../src/api/orders/book.ts';
import { DEFAULT_FEES } from '../../../src/engine/market/fees.ts';
import { ORDER_STATUSES, orderStatus } from '../../../src/engine/market/orderView.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { CATALOGUE } from '../../../src/engine/runtime/errors.ts';
import { marketRoutes, marketTopics } from '../../../src/server/wiring/services.ts';
import { sourcesIn } from '../../tidy/source.ts';
import { at, keysAt, STATUS } from './sample.ts';
import type { Served } from './served.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PROGRAM = sourcesIn(ROOT, 'src');

export async function documentsAreWhole(t: TestContext, served: Served): Promise<void> {
  const { world, openapi, asyncapi } = served;
  const { node, chain } = world.app.app;
  const paths = keysAt(openapi, 'paths');

  await t.test('every route of the market is there', () => {
    const documented = paths.flatMap((path) =>
      keysAt(openapi, `paths ${path}`).map((method) => `${method} ${path}`),
    );
    const books = new Books(node, DEFAULT_FEES);
    const offered = marketRoutes(node, books, chain, systemClock, null).map(({ method, path }) => {
      return `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`;
    });
    const others = [
      'get /docs',
      'get /docs/page.js',
      'get /docs/style.css',
      'get /llms-full.txt',
      'get /llms.txt',
      'get /health/live',
      'get /health/ready',
      'get /metrics',
      'get /og/{file}',
      'get /t/{asset}',
      'get /v1/docs/asyncapi',
      'get /v1/docs/openapi',
      'get /v1/docs/asyncapi.json',
      'get /v1/docs/openapi.json',
      'post /v1/webhooks',
      'get /v1/webhooks',
      'get /v1/webhooks/{id}',
      'delete /v1/webhooks/{id}',
    ];
    assert.deepEqual(documented.sort(), [...offered, ...others].sort());
  });

  await t.test('every path that a service writes down is there', () => {
    // The page and its files are no part of the API.
    const services = PROGRAM.filter(({ path }) => /^src\/api\/(?!page\/routes)/.test(path));
    const written = services.flatMap(({ text }) =>
      Array.from(text.matchAll(/\bpath: '(\/[^']+)'/g), ([, path = '']) => path),
    );
    assert.ok(written.length > 10);
    for (const path of written) {
      assert.ok(paths.includes(path.replaceAll(/:(\w+)/g, '{$1}')), path);
    }
  });

  await t.test('every path there is served', async () => {
    for (const path of paths) {
      for (const method of keysAt(openapi, `paths ${path}`)) {
        const url = world.url + path.replaceAll(/\{\w+\}/g, 'x');
        const response = await fetch(url, { method: 'PUT' });
        const allowed = response.headers.get('allow') ?? '';
        assert.ok(allowed.includes(method.toUpperCase()), `${method} ${path}: ${allowed}`);
      }
    }
  });

  await t.test('every topic is there, and nothing else', () => {
    const names = marketTopics(node, new Books(node, DEFAULT_FEES), STATUS).map(({ name }) => name);
    assert.deepEqual(keysAt(asyncapi, 'channels').sort(), [...names, 'socket'].sort());
  });

  await t.test('the document lists every cause, close code and limit', () => {
    const text = String(at(openapi, 'info description'));
    for (const [cause, { code, status }] of Object.entries(CATALOGUE)) {
      assert.ok(text.includes(`| ${code} | \`${cause}\` | ${status} |`), cause);
    }
    const { reads, builds, launches } = GATEWAY_DEFAULTS;
    const limits = `${reads.perSecond} reads/s with bursts of ${reads.burst}`;
    assert.ok(text.includes(limits), limits);
    assert.ok(text.includes(`${builds.perSecond} builds/s`));
    assert.ok(text.replaceAll('\n', ' ').includes(`${launches.perSecond * 60} launches a minute`));
    const socket = String(at(asyncapi, 'info description'));
    for (const [code, meaning] of CLOSE_CODES) assert.ok(socket.includes(`| ${code} | ${meaning}`));
    const closing = PROGRAM.filter(({ path }) =>
      /^src\/api\/(gateway|http|ws)\//.test(path),
    ).flatMap(({ text: code }) =>
      Array.from(code.matchAll(/\b(4[04-5]\d\d)\b/g), ([, number = '']) => Number(number)),
    );
    const documented = new Set(CLOSE_CODES.map(([code]) => code));
    const codes = new Set(closing.filter((code) => code >= 4000 && code < 5000));
    assert.ok(codes.size > 3);
    for (const code of codes) assert.ok(documented.has(code), `close code ${code}`);
  });

  await t.test('the table of order states says what the code does', () => {
    const text = String(at(openapi, 'info description'));
    const rows = Array.from(
      text.matchAll(/^\| ([a-z, ]+) \| ([a-z ]+) \| `(\w+)` \|$/gm),
      ([, confirmed = '', inMempool = '', status = '']) => ({ confirmed, inMempool, status }),
    );
    assert.deepEqual(rows.map(({ status }) => status).sort(), [...ORDER_STATUSES].sort());
    for (const confirmed of ['none', 'open', 'executed', 'refunded'] as const) {
      for (const inMempool of ['none', 'placing', 'executing', 'refunding'] as const) {
        const fits = rows.find(
          (row) =>
            row.confirmed.split(', ').includes(confirmed) &&
            (row.inMempool.startsWith('any') || row.inMempool === inMempool),
        );
        assert.equal(fits?.status, orderStatus(confirmed, inMempool));
      }
    }
  });

  await t.test('every wait and limit of the socket is the one in force', () => {
    const text = readFileSync(join(ROOT, 'src/api/docs/prose/socket.md'), 'utf8');
    const words = text.replaceAll(/\s+/g, ' ');
    assert.ok(words.includes(`every ${GATEWAY_DEFAULTS.heartbeatMs / 1000} s`));
    assert.ok(words.includes(`for ${GATEWAY_DEFAULTS.silenceMs / 1000} s is closed`));
    assert.ok(words.includes(`At most ${GATEWAY_DEFAULTS.framesPerSecond} frames a second`));
    assert.ok(words.includes(`${GATEWAY_DEFAULTS.maxFrameBytes / 1024} KiB each`));
    assert.ok(words.includes(`${GATEWAY_DEFAULTS.maxSubscriptions} subscriptions a socket`));
    const streams = GATEWAY_DEFAULTS.maxStreamsEach.toLocaleString('en');
    assert.ok(words.includes(`${streams} different streams`));
  });
}
