/** Nodes under the permissions of the production configuration, on a real nats-server. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connectNats } from '../../src/cluster/nats/connection.ts';
import { manager } from '../../src/cluster/nats/stream.ts';
import { ObjectFiles } from '../../src/cluster/snapshots/objectStore.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { systemRng } from '../../src/engine/runtime/rng.ts';
import { clientOf, webhookEnv } from '../api/webhooks/market.ts';
import { freePort, NatsServer, PATIENT_MS } from '../support/nats.ts';
import { temporaryDirectory } from '../support/server.ts';
import { until, untilAsked } from '../support/until.ts';
import { newMarket, same, startNode, trade } from './nodes.ts';

const PRODUCTION = join(import.meta.dirname, '../../config/nats-production.conf');
const PASSWORD = 'p4ssword';
const LIMIT_MS = 90_000;

/** Without the parts that need certificates, three servers or a nats-server newer than 2.9. */
function productionConf(): string {
  const text = readFileSync(PRODUCTION, 'utf8')
    .replaceAll(/^(tls|cluster) \{\n[\s\S]*?^\}/gm, '')
    .replaceAll(/^(listen|http|server_name):.*$/gm, '')
    .replaceAll(/^ *(sync_interval|store_dir):.*$/gm, '')
    .replaceAll('$MARKET_PASSWORD', PASSWORD);
  const path = join(temporaryDirectory(), 'nats.conf');
  writeFileSync(path, text);
  return path;
}

test('nodes have the rights that they need, and no others', async (scope) => {
  const said = join(temporaryDirectory(), 'nats.log');
  const extra = ['-l', said, '-a', '127.0.0.1', '-n', 'production'];
  const server = await NatsServer.start(scope, extra, productionConf());
  const violations = () => readFileSync(said, 'utf8').match(/.*(Violation|Authorization).*/g) ?? [];
  const url = `nats://market:${PASSWORD}@127.0.0.1:${server.port}`;
  const market = await newMarket(scope, { url }, 30);
  const a = await startNode(scope, market, 'a');
  const link = await server.connect(scope, url);
  const jsm = await manager(link, PATIENT_MS);
  const first = async () => (await jsm.streams.info('upcurve')).state.first_seq;
  const traded = () => trade(a, 2).then(first);
  await untilAsked('the log is trimmed', traded, (seq) => seq > 1, LIMIT_MS);
  const b = await startNode(scope, market, 'b', temporaryDirectory(), webhookEnv());
  await trade(b, 1);
  await same(a, b);
  const { epoch } = a.app.node.applied();
  await jsm.streams.delete('upcurve');
  const isNew = () => [a, b].every(({ app }) => app.node.applied().epoch !== epoch);
  await until('an epoch begins', isNew, LIMIT_MS);
  await a.stop();
  await trade(b, 1);
  const images = { bucket: 'upcurve-images', replicas: 1 };
  const files = new ObjectFiles(link, systemClock, systemRng, images);
  const path = join(temporaryDirectory(), 'logo');
  writeFileSync(path, 'a logo');
  for (const ask of ['put', 'get'] as const) {
    const done = () => files[ask]('logo', path);
    await untilAsked(`it may ${ask} files`, done, (failure) => failure === null, LIMIT_MS);
  }
  const removed = () => files.remove('logo');
  await untilAsked('it may remove files', removed, (failure) => failure === null, LIMIT_MS);
  const { webhooks } = clientOf(b.url);
  const topics = [{ topic: 'KOTH' }];
  const { data } = await webhooks.create({
    url: `http://127.0.0.1:${await freePort()}/hook`,
    topics,
  });
  const fails = async () => (await webhooks.get(data.id)).data.state;
  await untilAsked('it is tried', fails, (state) => state === 'failing', LIMIT_MS);
  await webhooks.remove(data.id);
  assert.deepEqual((await webhooks.list()).data, []);
  assert.deepEqual(violations(), []);

  const refusals: string[] = [];
  link.onRefusal((why) => refusals.push(why));
  for (const subject of [
    'other.entry.time',
    '$JS.API.STREAM.DELETE.other',
    '$JS.API.STREAM.LIST',
  ]) {
    await assert.rejects(link.connection.request(subject, '', { timeout: PATIENT_MS }));
    const isNamed = () => refusals.some((why) => why.includes(`Publish to "${subject}"`));
    await until(() => `it may not publish ${subject}: ${refusals}`, isNamed, LIMIT_MS);
  }
  for (const stranger of [server.url, url.replace(PASSWORD, 'guess')]) {
    const settings = { url: stranger, name: 'stranger', connectTimeoutMs: PATIENT_MS };
    const refused = await connectNats(settings, systemRng);
    assert(refused instanceof Failure);
    assert.match(refused.message, /it refuses our user/);
  }
});
