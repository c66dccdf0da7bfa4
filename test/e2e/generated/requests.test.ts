/**
 * Requests made from the served document, not from the code: each is answered as documented, and
 * the process lives. `REQUESTS=10000` for the long run, `SEED=…` for the same requests again.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { startServer, temporaryDirectory } from '../../support/server.ts';
import { Documents } from '../api/conforms.ts';
import { Served } from './document.ts';
import type { Ask } from './draft.ts';
import { generator } from './generator.ts';
import { Judge } from './judge.ts';
import { Life } from './life.ts';
import { Market } from './market.ts';
import { Line, type Outcome } from './wire.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const REQUESTS = Number(process.env.REQUESTS ?? 10_000);
const ROUND = 500;
const LINES = 24;
/** Bytes that are no request may be waited over for ever. */
const BARE_LIMIT_MS = 40;
/** From here on every operation has its turn. */
const ENOUGH = 8_000;
const MOST_TOLD = 12;

/** What differed, one example of each kind, with the request as a person can read it. */
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
    assert.equal(told.length, 0, `${told.length} kinds\n${told.slice(0, MOST_TOLD).join('\n\n')}`);
  }
}

test('generated requests are answered as documented, and the process lives', {
  timeout: 600_000,
}, async (t) => {
  t.diagnostic(`seed ${SEED}; again: SEED=${SEED} node --test test/e2e/generated/requests.test.ts`);
  const directory = temporaryDirectory();
  const server = await startServer(t, [], {
    DATA_DIR: directory,
    NETWORK: 'devnet',
    BLOCK_EVERY_MS: '200',
    TRADERS_PACE: '0.2',
  });
  const finds = await new Market(server.url).play();
  const openapi = new Served(await (await server.get('/v1/docs/openapi')).text());
  const judge = new Judge(openapi, await Documents.read(server.url));
  const requests = generator(openapi, finds);
  const life = new Life(server, directory);
  const lines = Array.from({ length: LINES }, () => new Line(server.port));
  const faults = new Faults();
  const tally = new Map<string, number>();
  const seen = new Set<string>();
  const startMs = performance.now();
  t.diagnostic(`the market was made in ${(startMs / 1000).toFixed(1)} s`);
  for (let done = 0, round = 0; done < REQUESTS; round += 1) {
    const numRuns = Math.min(ROUND, REQUESTS - done);
    const asks = fc.sample(requests, { seed: SEED * 1_000 + round, numRuns });
    done += asks.length;
    const waiting = asks.values();
    await Promise.all(
      lines.map(async (line) => {
        for (const ask of waiting) {
          const { bytes, isBare } = ask;
          const limit = isBare ? { limitMs: BARE_LIMIT_MS } : {};
          const outcome = await line.ask(bytes, {
            isHead: ask.method === 'HEAD',
            isBare,
            ...limit,
          });
          try {
            const told = `${ask.kind} ${judge.judge(ask, outcome)}`;
            tally.set(told, (tally.get(told) ?? 0) + 1);
            if (told.endsWith(' 200')) seen.add(`${ask.method} ${openapi.at(ask.path)[0]?.path}`);
          } catch (error) {
            faults.add(ask, outcome, error);
          }
        }
      }),
    );
    await life.look();
  }
  for (const line of lines) line.end();
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  t.diagnostic(`${REQUESTS} requests in ${seconds} s, ${life.mostBytes >> 20} MiB at most`);
  t.diagnostic(JSON.stringify(Object.fromEntries([...tally].sort())));
  faults.settle();
  const never = openapi.operations.map(({ route }) => route).filter((route) => !seen.has(route));
  if (REQUESTS >= ENOUGH)
    assert.deepEqual(never, [], 'every operation was answered with 200 at least once');
  life.assertNoHalfMadeFile();
  assert.equal((await server.stop()).code, 0);
});
