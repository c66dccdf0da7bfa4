/** One subscription whose frames do not follow each other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Receiver, Subscription } from '../../src/client/socket/subscription.ts';

const EPOCH = 'e1';

function frame(seq: number, prev: number | null) {
  const snapshot = prev === null;
  return { requestId: 'r1', event: 'LastBarUpdate', data: seq, epoch: EPOCH, seq, prev, snapshot };
}

function newSubscription() {
  const seen: string[] = [];
  const receiver: Receiver = {
    snapshot: (data) => seen.push(`snapshot ${data}`),
    update: (_event, data) => seen.push(`update ${data}`),
    idle: ({ seq }) => seen.push(`idle ${seq}`),
    ended: (error) => seen.push(`ended ${error.cause}`),
  };
  const subscription = new Subscription({ topic: 'LastBar' }, receiver, {
    send: () => seen.push('requested again'),
    sendLater: () => seen.push('requested later'),
    forget: () => {},
    notice: (reason) => seen.push(reason),
  });
  const accept = (recovered: boolean) =>
    subscription.receive({ ...frame(0, 0), event: 'Subscribed', data: { recovered } });
  return { subscription, seen, accept };
}

test('a loss is reported once, and what comes before the answer changes nothing', () => {
  const { subscription, seen, accept } = newSubscription();
  subscription.request('r1');
  accept(false);
  subscription.receive(frame(2, null));
  subscription.receive(frame(4, 3));
  subscription.receive(frame(5, 4));
  subscription.idleUpTo({ epoch: EPOCH, seq: 6 });
  assert.deepEqual(seen, ['snapshot 2', 'loss', 'requested again']);
  const since = { epoch: EPOCH, seq: 2 };
  assert.deepEqual(subscription.request('r2'), { requestId: 'r2', topic: 'LastBar', since });

  accept(true);
  subscription.receive(frame(3, 2));
  subscription.idleUpTo({ epoch: EPOCH, seq: 6 });
  assert.deepEqual(seen.slice(3), ['update 3', 'idle 6']);
});
