import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newProgress } from '../../../src/api/webhooks/port.ts';
import { SqliteWebhooks } from '../../../src/api/webhooks/sqliteStore.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { webhookNamed, webhooksContract } from '../../contracts/webhooks.ts';
import { temporaryDirectory } from '../../support/server.ts';

webhooksContract('a file', async (scope) => {
  const file = join(temporaryDirectory(scope), 'webhooks.sqlite');
  return {
    async open() {
      const store = new SqliteWebhooks(file);
      scope.after(() => store.close());
      return store;
    },
  };
});

test('a file holds secrets: others on the machine may not read it', (scope) => {
  const file = join(temporaryDirectory(scope), 'webhooks.sqlite');
  new SqliteWebhooks(file).close();
  assert.equal(statSync(file).mode & 0o077, 0);
});

test('a file that cannot be used is a failure, and names no path', async (scope) => {
  const file = join(temporaryDirectory(scope), 'webhooks.sqlite');
  const store = new SqliteWebhooks(file);
  store.close();
  const webhook = webhookNamed('a');
  const added = await store.add(webhook, newProgress(webhook.topics));
  assert(added instanceof Failure && added.cause === 'SERVER_ERROR');
  assert(!added.message.includes(file));
});
