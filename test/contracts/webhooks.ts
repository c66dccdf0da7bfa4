/**
 * Contract of every store of webhooks (src/api/webhooks/port.ts), run against each adapter. A place
 * is where one store lives; opened again, it finds the webhooks that were stored.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  newProgress,
  type StoredWebhook,
  type Webhook,
  type WebhookStore,
} from '../../src/api/webhooks/port.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { until } from '../support/until.ts';

interface WebhooksPlace {
  open(): Promise<WebhookStore>;
}

export function webhookNamed(id: string, owner = 'bot'): Webhook {
  return {
    id: `wh_${id}`,
    owner,
    url: 'https://bot.example/hook?a=ä',
    secret: 'a-secret-of-16-or-more',
    topics: [{ topic: 'Trades', data: { asset: 'a.b' }, requestId: '0', snapshot: true }],
    createdMs: 1_700_000_000_000,
  };
}

export function webhooksContract(
  name: string,
  place: (scope: TestContext) => Promise<WebhooksPlace>,
): void {
  const check = (
    behaviour: string,
    run: (store: WebhookStore, place: WebhooksPlace) => Promise<void>,
  ) =>
    test(`${name}: ${behaviour}`, async (scope) => {
      const here = await place(scope);
      await run(await here.open(), here);
    });
  const all = async (store: WebhookStore): Promise<readonly StoredWebhook[]> => {
    const found = await store.all();
    assert(!(found instanceof Failure), 'it answers');
    return found.toSorted((a, b) => (a.webhook.id < b.webhook.id ? -1 : 1));
  };
  const one = async (store: WebhookStore): Promise<StoredWebhook> => {
    const [found] = await all(store);
    return found ?? assert.fail('nothing is stored');
  };

  check('keeps what was added and saved, for each store that is opened', async (store, place) => {
    assert.deepEqual(await all(store), []);
    const [a, b] = [webhookNamed('a'), webhookNamed('b', 'fund')];
    const progress = newProgress(a.topics);
    assert.equal(await store.add(a, progress), null);
    assert.equal(await store.add(b, progress), null);
    const first = await one(store);
    assert.deepEqual([first.webhook, first.progress], [a, progress]);
    const moved = { ...progress, epoch: '1-aaaa', marks: [{ seq: 7, prev: 5 }] };
    const version = await store.save({ ...first, progress: moved });
    assert.equal(typeof version, 'number');
    const again = await place.open();
    const found = await all(again);
    assert.deepEqual(
      found.map(({ webhook, progress: at }) => [webhook, at]),
      [
        [a, moved],
        [b, progress],
      ],
    );
    assert.equal(found[0]?.version, version);
  });

  check('finds those of one key, whatever its name', async (store) => {
    const owners = ['bot', 'fund', 'b.o*t > "x" ä'];
    for (const [index, owner] of owners.entries()) {
      for (const id of ['a', 'b']) {
        const webhook = webhookNamed(`${id}${index}`, owner);
        assert.equal(await store.add(webhook, newProgress(webhook.topics)), null);
      }
    }
    const idsOf = async (owner: string) => {
      const own = await store.ownedBy(owner);
      assert(!(own instanceof Failure), 'it answers');
      return own.map(({ webhook }) => webhook.id).sort();
    };
    for (const [index, owner] of owners.entries()) {
      assert.deepEqual(await idsOf(owner), [`wh_a${index}`, `wh_b${index}`]);
    }
    assert.deepEqual(await idsOf('stranger'), []);
    assert.equal((await all(store)).length, 6);
    assert.equal(await store.remove({ id: 'wh_a0', owner: 'bot' }), null);
    assert.deepEqual(await idsOf('bot'), ['wh_b0']);
  });

  check('does not save over what was saved or removed meanwhile', async (store, place) => {
    const webhook = webhookNamed('a');
    const progress = newProgress(webhook.topics);
    await store.add(webhook, progress);
    const other = await place.open();
    const [ours, theirs] = [await one(store), await one(other)];
    const next = await other.save({ ...theirs, progress: { ...progress, failures: 3 } });
    assert.equal(typeof next, 'number');
    assert.equal(await store.save({ ...ours, progress: { ...progress, failures: 9 } }), 'outdated');
    assert.equal((await one(store)).progress.failures, 3);
    const current = await one(store);
    assert.equal(await other.remove(webhook), null);
    assert.equal(await store.save(current), 'outdated');
    assert.deepEqual(await all(store), []);
  });

  check('says when webhooks come and go, and not when one is saved', async (store) => {
    const heard: string[] = [];
    const stop = store.onChange((owner) => void heard.push(owner));
    const webhook = webhookNamed('a');
    await store.add(webhook, newProgress(webhook.topics));
    await until('it is heard', () => heard.length === 1);
    await store.save(await one(store));
    await store.remove(webhook);
    await until('it is heard', () => heard.length === 2);
    stop();
    await store.add(webhookNamed('b'), newProgress(webhook.topics));
    assert.deepEqual(heard, ['bot', 'bot']);
  });
}
