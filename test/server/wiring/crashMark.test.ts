/** The mark of a crash with ACK=memory outlives a start that does not come to its end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isCopiedDirectory,
  markOpenDirectory,
} from '../../../src/engine/directory/directoryCopy.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { createEvents, createLogger } from '../../../src/engine/runtime/events.ts';
import { createRegistry } from '../../../src/engine/runtime/meters.ts';
import { systemRng } from '../../../src/engine/runtime/rng.ts';
import { BadSettings, readSettings } from '../../../src/server/settings/settings.ts';
import { openNode } from '../../../src/server/wiring/openNode.ts';
import { temporaryDirectory } from '../../support/server.ts';

test('a start that is interrupted leaves the mark of a crash', async (t) => {
  const directory = temporaryDirectory(t);
  const settings = readSettings({ DATA_DIR: directory, ACK: 'memory', NETWORK: 'none' });
  assert(!(settings instanceof BadSettings));
  const [clock, rng] = [systemClock, systemRng];
  const logger = createLogger({ level: 'silent', clock });
  const events = createEvents(logger, createRegistry(), clock);
  const world = { settings, clock, rng, logger, version: 'test' };
  const { node, log } = await openNode(world, events);
  await node.stop();
  await log.close();
  assert(!isCopiedDirectory(directory), 'a stop writes everything');
  markOpenDirectory(directory);
  const signal = AbortSignal.abort(new Error('SIGTERM'));
  await assert.rejects(openNode({ ...world, signal }, events));
  assert(isCopiedDirectory(directory));
});
