/** What a leader leaves in the object store, when disk, NATS or the leader itself give way. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ObjectFiles } from '../../src/cluster/nats/objects.ts';
import { SnapshotSet } from '../../src/cluster/snapshotSet.ts';
import { Snapshots } from '../../src/cluster/snapshots.ts';
import { dataFiles } from '../../src/engine/actors/files.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { systemRng } from '../../src/engine/runtime/rng.ts';
import { NatsServer, openLog } from '../support/nats.ts';
import { temporaryDirectory } from '../support/server.ts';
import { until, untilAsked } from '../support/until.ts';
import { newMarket, startNode, trade } from './nodes.ts';

test('what failed is told and done later; the log keeps what a snapshot needs', async (scope) => {
  const server = await NatsServer.start(scope);
  const directory = temporaryDirectory();
  const node = await startNode(scope, await newMarket(scope, server, 1_000_000), 'a', directory);
  const link = await server.connect(scope);
  const log = await openLog(scope, link, 'upcurve');
  const shape = { bucket: 'upcurve-files', replicas: 1 };
  const objects = new ObjectFiles(link, systemClock, systemRng, shape);
  const refusals = new Set(['put', 'trim']);
  const refuse = (what: string) => refusals.delete(what);
  const snapshotSet = new (class extends SnapshotSet {
    override async put(...asked: Parameters<SnapshotSet['put']>) {
      return refuse('put') ? new Failure('SERVER_ERROR', 'disk full') : super.put(...asked);
    }
  })(objects, temporaryDirectory());
  const listed = async () => {
    const found = await snapshotSet.list();
    assert.ok(!(found instanceof Failure));
    return found.map(({ checkpoint }) => checkpoint.seq);
  };
  const failed: string[] = [];
  const taken: number[] = [];
  const make = () =>
    new Snapshots(
      {
        node: node.app.node,
        log: Object.create(log, {
          trim: {
            value: async (seq: number) => {
              if (refuse('trim')) throw new Error('the leader died before the trim');
              await log.trim(seq);
            },
          },
          first: { value: () => log.first() },
        }),
        files: dataFiles(directory),
        snapshots: snapshotSet,
        clock: systemClock,
        every: 20,
        retryMs: 20,
      },
      {
        snapshotFailed: (error) => failed.push(String(error)),
        snapshotTaken: (seq) => taken.push(seq),
      },
    );
  let snapshots = make();
  snapshots.start();
  await trade(node, 5);
  await until('the first is taken', () => taken.length === 1);
  assert.match(failed.join(), /disk full/);
  await trade(node, 5);
  const isTold = () => failed.some((error) => /before the trim/.test(error));
  await until('the trim fails', isTold);
  assert.equal((await listed()).length, 2, 'it was uploaded before');
  await until('it is trimmed all the same', () => refusals.size === 0);
  const trimmed = async () => ({ first: await log.first(), older: (await listed()).at(-1) });
  await untilAsked('to the older', trimmed, ({ first, older }) => first === older);
  await snapshots.stop();

  await objects.put('snapshot-9-lost-77-state', join(directory, 'genesis.json'));
  snapshots = make();
  snapshots.start();
  await trade(node, 15);
  await untilAsked(
    'only two are kept',
    async () => ({ names: await objects.list(), seqs: await listed(), taken }),
    ({ names, seqs }) =>
      seqs.length === 2 &&
      !(names instanceof Failure) &&
      names.filter(({ name }) => name.startsWith('snapshot-')).length === 4,
  );
  await snapshots.stop();
  assert.ok(existsSync(join(directory, 'state.sqlite')));
  const left = readdirSync(directory).filter((name) => name.startsWith('snapshot-'));
  assert.deepEqual(left, [], 'no temporary file is left');
});
