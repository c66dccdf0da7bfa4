/**
 * `load` against a real market: nothing is found where nothing is wrong, each fault that a proxy
 * plants is found and counted under its name, and the generator says when it is itself the limit.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../../../src/engine/runtime/clock.ts';
import type { Report } from '../../../../src/server/cli/load/report.ts';
import { runLoad } from '../../../../src/server/cli/load/run.ts';
import { ADA, DevnetWorld } from '../../../e2e/devnet/world.ts';
import { type Alterations, AlteringProxy, type SeenFrame } from '../../../support/alteringProxy.ts';
import { LONG_ONLY } from '../../../support/long.ts';
import { temporaryDirectory } from '../../../support/server.ts';
import { untilAsked } from '../../../support/until.ts';
import { parsed } from '../parsed.ts';

const ALL = 'websocket,msgpack,sse';

describe('load', LONG_ONLY, () => {
  const ends: (() => unknown)[] = [];
  const scope = { after: (end: () => unknown) => void ends.push(end) };
  let world: DevnetWorld;
  let proxy: AlteringProxy;
  let buy: () => Promise<unknown>;

  before(async () => {
    world = await DevnetWorld.start(scope);
    const maker = await world.funded('maker', 1_000, 4);
    const alice = await world.funded('alice', 2_000, 8);
    const { asset } = await world.launch(maker, {
      name: 'Loaded',
      ticker: 'LOAD',
      description: '',
      initialLovelace: 50n * ADA,
    });
    buy = () =>
      world.filled(alice, { assetId: asset, side: 'BUY', amount: 20n * ADA, slippage: '15' });
    await buy();
    proxy = await AlteringProxy.start(scope, world.url);
  });
  after(async () => {
    for (const end of ends.toReversed()) await end();
  });

  /** Trades while it runs. */
  async function loaded(url: string, options: string, more: () => Promise<unknown> = buy) {
    const out = join(temporaryDirectory(), 'report');
    const command = parsed(`load ${url} --out ${out} ${options}`.split(' '));
    assert(typeof command === 'object' && command.name === 'load', String(command));
    const said: string[] = [];
    const running = runLoad(command, {
      clock: systemClock,
      fetch,
      signal: new AbortController().signal,
      write: (text) => void said.push(text),
      complain: (line) => void said.push(line),
      isTerminal: false,
    });
    let isOver = false;
    const ended = running.finally(() => {
      isOver = true;
    });
    while (!isOver) await more();
    const code = await ended;
    const text = said.join('');
    const report: Report = JSON.parse(readFileSync(`${out}.json`, 'utf8'));
    return { code, text, report, page: readFileSync(`${out}.html`, 'utf8') };
  }

  /** Runs again where a busy machine traded too little for a fault to be planted. */
  async function faultsOf(plant: () => Alterations, options: string) {
    let passed = 0;
    const run = () => {
      const { frame } = plant();
      passed = 0;
      proxy.alter = {
        frame: (one, later) => {
          if (one.snapshot !== true && String(one.event).endsWith('Update')) passed += 1;
          return frame?.(one, later) ?? [one];
        },
      };
      return loaded(proxy.url, options);
    };
    return untilAsked('enough frames pass', run, () => passed >= 5);
  }

  test('a sound server: no fault on any transport, every number filled in', async () => {
    const file = join(temporaryDirectory(), 'sound.yaml');
    const topics =
      '[{topic: LastBar, data: {pair: {base: "{hot}", quote: .}, interval: min1}}, ' +
      '{topic: Trades, data: {asset: "{hot}"}}, {topic: Latest}, ' +
      '{topic: OrderBook, data: {asset: "{hot}", mode: changes}}]';
    const groups = ALL.split(',').map(
      (name) => ` - {name: ${name}, transport: ${name}, count: 3, topics: ${topics}}\n`,
    );
    writeFileSync(
      file,
      `rampSeconds: 1\nstaleMs: 60000\nsockets:\n${groups.join('')}requests:\n` +
        ' - {path: /v1/tickers, perSecond: 20}\n' +
        ' - {path: "/v1/order-book?asset={hot}", perSecond: 20}\n',
    );
    const { code, text, report, page } = await loaded(
      world.url,
      `--scenario ${file} --duration 4s`,
    );
    assert.equal(code, 0, text);
    assert.deepEqual(Object.values(report.faults), [0, 0, 0, 0, 0]);
    const { sockets, requests } = report;
    assert.equal(sockets.opened, 9);
    assert(sockets.frameLatency.count >= 9, `${sockets.frameLatency.count} live frames`);
    assert(sockets.bytes > 1_000 && sockets.frameLatency['p99.9'] !== null);
    assert.deepEqual(sockets.lost, {});
    assert.deepEqual(sockets.refused, {});
    assert.equal(requests.length, 2);
    for (const { statuses, count, latency } of requests) {
      assert.deepEqual(Object.keys(statuses), ['200']);
      // On a busy machine the generator sends fewer, and says so.
      assert(count >= 40 || report.generator.isLimit, `${count}`);
      assert(count > 0 && latency.count === count && (latency.p50 ?? 0) > 0, `${count}`);
    }
    assert(report.samples.some(({ serverCpu }) => serverCpu !== null && serverCpu > 0));
    assert.match(page, /^<!doctype html>[\s\S]*<svg[\s\S]*Latency of frames/);
    assert.match(text, /p99\.9/);
  });

  /** Frames of `LastBar` updates, not the snapshot. */
  function updates(alter: (frame: SeenFrame, hold: SeenFrame[]) => readonly SeenFrame[]) {
    const held = new Map<unknown, SeenFrame[]>();
    return (frame: SeenFrame) => {
      if (frame.event !== 'TradesUpdate' || frame.snapshot === true) return [frame];
      const hold = held.get(frame.requestId) ?? [];
      held.set(frame.requestId, hold);
      return alter(frame, hold);
    };
  }

  const PLANTED: Readonly<Record<string, () => Alterations>> = {
    gap: () => ({
      // Every second one is lost.
      frame: updates((frame, hold) => (hold.push(frame) % 2 === 0 ? [] : [frame])),
    }),
    repeat: () => ({ frame: updates((frame) => [frame, frame]) }),
    backwards: () => ({
      // Two change places.
      frame: updates((frame, hold) => (hold.push(frame) < 2 ? [] : hold.splice(0).reverse())),
    }),
    stale: () => ({
      frame: (frame) => {
        const { snapshot, ts } = frame;
        return [snapshot === true ? frame : { ...frame, ts: Number(ts) - 5_000 }];
      },
    }),
    checksum: () => ({
      frame: (frame) => {
        const { data } = frame as { data: { checksum?: string } | null };
        if (typeof data?.checksum !== 'string') return [frame];
        return [{ ...frame, data: { ...data, checksum: '00000001' } }];
      },
    }),
  };
  for (const [fault, plant] of Object.entries(PLANTED)) {
    // All transports have the same checks; the first one is tried over each.
    for (const transport of fault === 'gap' ? ALL.split(',') : ['websocket']) {
      test(`a proxy that plants "${fault}" is found out over ${transport}`, async () => {
        const topics = fault === 'checksum' ? 'OrderBook' : 'Trades';
        const options = `--sockets 1 --transport ${transport} --topics ${topics} --threads 1`;
        const { code, text, report } = await faultsOf(plant, `${options} --duration 3s --ramp 0`);
        assert.equal(code, 1, text);
        // A machine that is busy enough makes frames late.
        const found = Object.entries(report.faults).flatMap(([name, times]) => {
          const isBusy = name === 'stale' && fault !== 'stale';
          return times > 0 && !isBusy ? [name] : [];
        });
        // Frames that change places are also a gap, until the first of them comes.
        assert.deepEqual(found, fault === 'backwards' ? ['gap', 'backwards'] : [fault], text);
      });
    }
  }

  test('sockets that are cut continue from their position; slow readers are no fault', async () => {
    const file = join(temporaryDirectory(), 'storm.yaml');
    const topics =
      '[{topic: Trades, data: {asset: "{hot}"}}, ' +
      '{topic: OrderBook, data: {asset: "{hot}", mode: changes}}]';
    writeFileSync(
      file,
      `name: storm\ndurationSeconds: 4\nrampSeconds: 0\nstaleMs: 60000\nsockets:\n` +
        ` - {name: storm, count: 6, reconnectEverySeconds: 1, topics: ${topics}}\n` +
        ` - {name: slow, count: 2, transport: msgpack, readKibPerSecond: 1, topics: ${topics}}\n`,
    );
    const opened = async () => {
      const { code, text, report } = await loaded(world.url, `--scenario ${file}`);
      assert.equal(code, 0, text);
      return report.sockets.opened;
    };
    // Once more where the machine is too busy to open each three times in that time.
    await untilAsked('all were cut twice', opened, (count) => count >= 6 * 3 + 2);
  });

  test('the generator says that it is itself the limit', async () => {
    const quick = createServer((_asked, answer) => answer.end('{"timestamp":1}'));
    quick.listen(0, '127.0.0.1');
    await once(quick, 'listening');
    scope.after(() => quick.close());
    const address = quick.address();
    assert(address !== null && typeof address === 'object');
    const url = `http://127.0.0.1:${address.port}`;
    const rest = () => new Promise((resolve) => setTimeout(resolve, 100));
    const options = '--routes /a --rate 900000 --threads 1 --duration 3s --ramp 0';
    const { code, text, report } = await loaded(url, options, rest);
    assert.equal(code, 0, text);
    assert.equal(report.generator.isLimit, true);
    assert.match(text, /THE LOAD GENERATOR WAS THE LIMIT/);
  });
});
