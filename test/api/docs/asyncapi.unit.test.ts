import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asyncapi } from '../../../src/api/docs/asyncapi.ts';
import { at, faultsIn, keysAt, TOPICS } from './sample.ts';

const document = asyncapi({ title: 'upcurve', version: '0.1.0' }, TOPICS);

test('every topic given has its channel, and there is none besides the socket', () => {
  assert.deepEqual(keysAt(document, 'channels'), ['socket', 'Health', 'LastBar']);
  assert.deepEqual(keysAt(document, 'channels LastBar messages'), [
    'subscribe',
    'LastBarUpdate',
    'BarsRevised',
  ]);
  assert.equal(at(document, 'channels LastBar address'), '/ws');
});

test('clients send five kinds of frames, the server all others', () => {
  const operations = keysAt(document, 'operations');
  const received = operations.filter(
    (name) => at(document, `operations ${name} action`) === 'receive',
  );
  assert.deepEqual(received, [
    'socket.connect',
    'socket.subscribeMany',
    'socket.unsubscribe',
    'socket.ping',
    'socket.pong',
    'Health.subscribe',
    'LastBar.subscribe',
  ]);
  for (const event of ['ConnectionSucceeded', 'Ping', 'Resync', 'Error', 'Shutdown']) {
    assert.equal(at(document, `operations socket.${event} action`), 'send');
  }
});

test('subscribe takes the data of its topic, and updates carry it in the envelope', () => {
  const subscribe = 'channels LastBar messages subscribe payload properties';
  assert.equal(at(document, `${subscribe} topic const`), 'LastBar');
  assert.deepEqual(at(document, `${subscribe} data properties interval enum`), ['min1', 'min5']);
  const update = 'channels LastBar messages LastBarUpdate payload properties';
  assert.deepEqual(at(document, `${update} data`), { $ref: '#/components/schemas/Bar' });
  assert.equal(at(document, `${update} event const`), 'LastBarUpdate');
});

test('references resolve, and the close codes are explained', () => {
  assert.deepEqual(faultsIn(document), []);
  const description = String(at(document, 'info description'));
  for (const code of [4001, 4002, 4008, 4403, 4429, 4500, 4501]) {
    assert.match(description, new RegExp(`^\\| ${code} \\| `, 'm'));
  }
});
