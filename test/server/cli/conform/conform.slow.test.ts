/**
 * `conform` against a real market: every clause is kept by it, and each one is broken by a server
 * that breaks just that (`breakages.ts`). A clause that nothing can break would say nothing.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { decoderOf } from '../../../../src/client/socket/frame.ts';
import { pause, systemClock } from '../../../../src/engine/runtime/clock.ts';
import { CLAUSES, judge, runConform } from '../../../../src/server/cli/conform/run.ts';
import { ADA, DevnetWorld } from '../../../e2e/devnet/world.ts';
import { AlteringProxy } from '../../../support/alteringProxy.ts';
import { IS_LONG } from '../../../support/long.ts';
import { temporaryDirectory } from '../../../support/server.ts';
import { BREAKAGES, LENIENT } from './breakages.ts';

const WAIT_MS = 20_000;
/** Against a server that breaks a promise, some clauses wait the whole time. */
const BROKEN_WAIT_MS = 4_000;

describe('conform', () => {
  const ends: (() => unknown)[] = [];
  const scope = { after: (end: () => unknown) => void ends.push(end) };
  let world: DevnetWorld;
  let proxy: AlteringProxy;
  let asset = '';
  const trading = { isOver: false, isPaused: false, isIdle: false };
  let traded: Promise<void> = Promise.resolve();

  before(async () => {
    world = await DevnetWorld.start(scope);
    const maker = await world.funded('maker', 1_000, 4);
    const alice = await world.funded('alice', 5_000, 8);
    const launched = await world.launch(maker, {
      name: 'Judged',
      ticker: 'JUDGE',
      description: '',
      initialLovelace: 50n * ADA,
    });
    asset = launched.asset;
    const amount = 20n * ADA;
    await world.filled(alice, { assetId: asset, side: 'BUY', amount, slippage: '15' });
    proxy = await AlteringProxy.start(scope, world.url);
    traded = (async () => {
      while (!trading.isOver) {
        trading.isIdle = trading.isPaused;
        if (trading.isPaused) await pause(systemClock, 20, new AbortController().signal);
        else {
          const order = { assetId: asset, side: 'BUY', amount, slippage: 'infinity' } as const;
          await world.filled(alice, order);
          // Clauses that compare two answers need a moment without a change.
          await pause(systemClock, 300, new AbortController().signal);
        }
      }
    })();
  });
  after(async () => {
    trading.isOver = true;
    await traded;
    for (const end of ends.toReversed()) await end();
  });

  async function verdictOf(id: string, url: string, waitMs = WAIT_MS) {
    const clause = CLAUSES.find((each) => each.id === id);
    assert(clause !== undefined, id);
    const decode = { json: await decoderOf('json'), msgpack: await decoderOf('msgpack') };
    // A fork must not undo an order that the market still waits for.
    trading.isPaused = id.startsWith('rollback');
    while (trading.isPaused && !trading.isIdle) {
      await pause(systemClock, 20, new AbortController().signal);
    }
    const verdict = await judge(clause, {
      ...{ url, asset, decode, clock: systemClock, fetch },
      ...{ waitMs, mayChange: true },
    });
    trading.isPaused = false;
    return verdict;
  }

  test('every clause has a name of its own, and something that breaks it', () => {
    const ids = CLAUSES.map(({ id }) => id);
    assert(ids.length >= 40, `${ids.length} clauses`);
    assert.equal(new Set(ids).size, ids.length);
    assert.deepEqual(ids.toSorted(), [...Object.keys(BREAKAGES), ...LENIENT].toSorted());
  });

  for (const { id, promise } of CLAUSES) {
    test(`${id}: ${promise}`, async () => {
      const kept = await verdictOf(id, world.url);
      assert.equal(kept.is, 'kept', kept.why);
      // CI tests the market with each clause; `npm run test:long` tests the clauses too.
      if (!IS_LONG) return;
      const breakage = BREAKAGES[id];
      if (breakage === undefined) {
        const lenient = await verdictOf(id, await lenientServer());
        assert.equal(lenient.is, 'broken', lenient.why);
        return;
      }
      proxy.alter = breakage();
      const broken = await verdictOf(id, proxy.url, BROKEN_WAIT_MS);
      assert.equal(
        broken.is,
        'broken',
        `${broken.is} although the server breaks it: ${broken.why}`,
      );
      assert.doesNotMatch(broken.why, /^no answer/);
    });
  }

  /** Takes two requests from any bytes, and answers both. */
  async function lenientServer(): Promise<string> {
    const server = createServer((socket) => {
      socket.once('data', () =>
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]'.repeat(2)),
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    scope.after(() => server.close());
    const address = server.address();
    assert(address !== null && typeof address === 'object');
    return `http://127.0.0.1:${address.port}`;
  }

  test('the command prints a line for each clause and writes a badge', async () => {
    const badge = join(temporaryDirectory(), 'badge.svg');
    const lines: string[] = [];
    const say = (line: string) => void lines.push(line);
    const command = {
      name: 'conform',
      url: world.url,
      mayChange: false,
      waitMs: WAIT_MS,
      badge,
    } as const;
    const { signal } = new AbortController();
    const deps = { clock: systemClock, fetch, signal, say, complain: say };
    assert.equal(await runConform(command, deps), 0, lines.join('\n'));
    assert.equal(lines.length, CLAUSES.length + 1);
    assert.match(lines.at(-1) ?? '', /^\d+ kept, 0 broken, 4 skipped$/);
    assert.match(readFileSync(badge, 'utf8'), /^<svg [\s\S]*>upcurve contract<[\s\S]*kept</);
    const nowhere = await runConform({ ...command, url: 'http://127.0.0.1:9' }, deps);
    assert.equal(nowhere, 1);
    assert.match(lines.at(-1) ?? '', /^http:\/\/127\.0\.0\.1:9: /);
  });
});
