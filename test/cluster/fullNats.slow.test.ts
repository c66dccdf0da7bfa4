/** NATS has no room left for streams: readiness says so, and submissions wait for room. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Failure } from '../../src/engine/runtime/errors.ts';
import type { TestApp } from '../support/app.ts';
import { addressOf } from '../support/ledgerWorld.ts';
import { NATS_CONF, NatsServer } from '../support/nats.ts';
import { temporaryDirectory } from '../support/server.ts';
import { untilAsked } from '../support/until.ts';
import { newMarket, startNode, trade } from './nodes.ts';

const LIMIT_MS = 60_000;

interface Readiness {
  readonly role: string;
  readonly reasons: readonly { readonly code: string; readonly message: string }[];
}

async function readiness({ url }: TestApp): Promise<Readiness> {
  const response = await fetch(`${url}/health/ready`);
  // trust: the fields that a schema of ours names
  return (await response.json()) as Readiness;
}

function withStorage(file: string, bytes: string): string {
  const conf = readFileSync(NATS_CONF, 'utf8');
  writeFileSync(file, conf.replace(/max_file_store: \S+/, `max_file_store: ${bytes}`));
  return file;
}

test('NATS without room is a reason, submissions wait, with room all continues', async (scope) => {
  const conf = withStorage(join(temporaryDirectory(scope), 'nats.conf'), '150KB');
  const server = await NatsServer.start(scope, [], conf);
  const market = await newMarket(scope, server, 1_000_000);
  const node = await startNode(scope, market, 'a');
  await untilAsked(
    'it leads',
    () => readiness(node),
    ({ role }) => role === 'leader',
    LIMIT_MS,
  );
  await trade(node, 1);
  const devnet = node.app.chain?.devnet ?? assert.fail('it has a devnet');
  const filling = new AbortController();
  const fill = (async () => {
    while (!filling.signal.aborted) await devnet.mine(50);
  })();
  const isListed = ({ reasons }: Readiness) =>
    reasons.some(({ code, message }) => code === 'NO_LEADER' && /insufficient/.test(message));
  await untilAsked('readiness lists it', () => readiness(node), isListed, LIMIT_MS);
  filling.abort();
  await fill;
  const refused = await devnet.faucet(addressOf('alice'), 5_000_000n);
  assert(refused instanceof Failure && refused.cause === 'NOT_READY');
  withStorage(conf, '8GB');
  await server.restart();
  const isOver = ({ reasons }: Readiness) => reasons.length === 0;
  await untilAsked('nothing is wrong', () => readiness(node), isOver, LIMIT_MS);
  await trade(node, 1);
});
