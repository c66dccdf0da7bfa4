/**
 * Requests made from the served document, not from the code: each is answered as documented, and
 * the process lives. `REQUESTS=100000` for a long run, `SEED=…` for the same requests again.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { IS_LONG } from '../../support/long.ts';
import { startServer, temporaryDirectory } from '../../support/server.ts';
import { Documents } from '../api/conforms.ts';
import { Served } from './document.ts';
import type { Ask } from './draft.ts';
import { generator, validAsks } from './generator.ts';
import { Judge } from './judge.ts';
import { Life } from './life.ts';
import { Market } from './market.ts';
import { Line, type Outcome } from './wire.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const REQUESTS = Number(process.env.REQUESTS ?? (IS_LONG ? 2_500 : 1_200));
const ROUND = 500;
const LINES = 24;
/** Bytes that are no request may be waited over for ever. */
const BARE_LIMIT_MS = 40;
/** Valid ones for each operation that chance left without a 200. */
const MAX_MORE = 300;
const MAX_TOLD = 12;

/** Differences, one example of each kind, with the request in readable form. */
class Faults {
  readonly #byKind = new Map<string, { count: number; example: string }>();

  add(ask: Ask, outcome: Outcome, error: unknown): void {
    const told = error instanceof Error ? error.message : String(error);
    const kind = `${ask.method} ${ask.path.slice(0, 60)} ${told.slice(0, 60)}`;
    const body = typeof outcome === 'string' ? outcome : outcome.body.toString().slice(0, 300);
    const sent = ask.bytes.subarray(0, 1_200).toString('latin1');
    const known = this.#byKind.get(kind);
    const example = `${ask.kind}: ${JSON.stringify(sent)}\n→ ${body}\n${told.slice(0, 800)}`;
    this.#byKind.set(kind, {
      count: (known?.count ?? 0) + 1,
      example: known?.example ?? example,
    });
  }

  settle(): void {
    const told = Array.from(this.#byKind.values(), ({ count, example }) => `${count} × ${example}`);
    assert.equal(told.length, 0, `${told.length} kinds\n${told.slice(0, MAX_TOLD).join('\n\n')}`);
  }
}

/** Requests and answers, counted. */
class Asked {
  readonly tally = new Map<string, number>();
  /** Routes that answered 200. */
  readonly good = new Set<string>();
  readonly faults = new Faults();
  readonly #openapi: Served;
  readonly #judge: Judge;

  constructor(openapi: Served, judge: Judge) {
    this.#openapi = openapi;
    this.#judge = judge;
  }

  async ask(ask: Ask, line: Line): Promise<void> {
    const { bytes, isBare, method } = ask;
    const limit = isBare ? { limitMs: BARE_LIMIT_MS } : {};
    const outcome = await line.ask(bytes, { isHead: method === 'HEAD', isBare, ...limit });
    try {
      const told = `${ask.kind} ${this.#judge.judge(ask, outcome)}`;
      this.tally.set(told, (this.tally.get(told) ?? 0) + 1);
      if (!told.endsWith(' 200')) return;
      this.good.add(`${method} ${this.#openapi.at(ask.path)[0]?.path}`);
    } catch (error) {
      this.faults.add(ask, outcome, error);
    }
  }
}

test('generated requests are answered as documented, and the process lives', {
  timeout: 600_000,
}, async (t) => {
  t.diagnostic(
    `seed ${SEED}; again: SEED=${SEED} node --test test/e2e/generated/requests.slow.test.ts`,
  );
  const directory = temporaryDirectory();
  const server = await startServer(t, [], {
    DATA_DIR: directory,
    NETWORK: 'devnet',
    BLOCK_EVERY_MS: '200',
    TRADERS_PACE: '0.2',
    // So that the route of its price answers with one.
    ADA_USD: '0.4512',
  });
  const finds = await new Market(server.url).play();
  const openapi = new Served(await (await server.get('/v1/docs/openapi')).text());
  const judge = new Judge(openapi, await Documents.read(server.url));
  const requests = generator(openapi, finds);
  const life = new Life(server, directory);
  const lines = Array.from({ length: LINES }, () => new Line(server.port));
  const asked = new Asked(openapi, judge);
  const startMs = performance.now();
  t.diagnostic(`the market was made in ${(startMs / 1000).toFixed(1)} s`);
  for (let done = 0, round = 0; done < REQUESTS; round += 1) {
    const numRuns = Math.min(ROUND, REQUESTS - done);
    const asks = fc.sample(requests, { seed: SEED * 1_000 + round, numRuns });
    done += asks.length;
    const waiting = asks.values();
    await Promise.all(
      lines.map(async (line) => {
        for (const ask of waiting) await asked.ask(ask, line);
      }),
    );
    await life.look();
  }
  const [line] = lines;
  for (const [route, valid] of validAsks(openapi, finds)) {
    const numRuns = asked.good.has(route) ? 0 : MAX_MORE;
    for (const ask of numRuns === 0 ? [] : fc.sample(valid, { seed: SEED, numRuns })) {
      if (line === undefined || asked.good.has(route)) break;
      await asked.ask(ask, line);
    }
    assert(asked.good.has(route), `${route} was answered with 200 at least once`);
  }
  await life.look();
  for (const each of lines) each.end();
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  t.diagnostic(`${REQUESTS} requests in ${seconds} s, ${life.maxBytes >> 20} MiB at most`);
  t.diagnostic(JSON.stringify(Object.fromEntries([...asked.tally].sort())));
  asked.faults.settle();
  life.assertNoHalfMadeFile();
  assert.equal((await server.stop()).code, 0);
});
