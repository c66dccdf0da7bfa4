/** Some topics send changes relative to the last body of this node: they begin whole. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Source } from '../../../src/api/topics/port.ts';
import { nextBody, type OpenTopic } from '../../../src/api/webhooks/nextBody.ts';
import { newProgress } from '../../../src/api/webhooks/port.ts';

const APPLIED = { epoch: '1-aaaa', seq: 20 };

function bodyOf(beginsWhole: boolean, since?: { epoch: string; seq: number }) {
  const source: Source = {
    key: 'Book',
    tags: [],
    ...(beginsWhole ? { beginsWhole } : {}),
    snapshot: () => 'whole',
    since: (seq) => [{ event: 'BookUpdate', seq: 20, data: `changes since ${seq}` }],
  };
  const wanted = { topic: 'Book', data: {}, requestId: 'b', snapshot: false };
  const registered = since === undefined ? wanted : { ...wanted, since };
  const each: OpenTopic = {
    wanted: registered,
    event: 'BookUpdate',
    cadenceMs: 100,
    open: () => source,
  };
  const { text } = nextBody([each], newProgress([registered]), APPLIED, 0);
  // trust: a body is a list of frames
  const frames = JSON.parse(text ?? '[]') as { event: string; data: unknown }[];
  return frames.filter(({ event }) => event === 'BookUpdate').map(({ data }) => data);
}

test('with `since` others continue; changes of what was sent begin with the whole', () => {
  const since = { epoch: APPLIED.epoch, seq: 10 };
  assert.deepEqual(bodyOf(false, since), ['changes since 10']);
  assert.deepEqual(bodyOf(true, since), ['whole']);
});

test('without `snapshot` others begin with what changes; these begin with the whole', () => {
  assert.deepEqual(bodyOf(false), []);
  assert.deepEqual(bodyOf(true), ['whole']);
});
