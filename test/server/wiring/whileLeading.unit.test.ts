/** A service that runs on the leader only, through changes of the role. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RoleState } from '../../../src/server/wiring/election.ts';
import { whileLeading } from '../../../src/server/wiring/whileLeading.ts';

function rolesOf() {
  let leads = false;
  const listeners: ((leads: boolean) => void)[] = [];
  const state: Pick<RoleState, 'leads' | 'onRole'> = {
    leads: () => leads,
    onRole: (listener) => void listeners.push(listener),
  };
  const set = (now: boolean) => {
    leads = now;
    for (const listener of listeners) listener(now);
  };
  // trust: the two that are used
  return { roles: state as RoleState, set };
}

test('a start or a stop that fails is reported, and later changes of the role happen', async () => {
  const { roles, set } = rolesOf();
  const said: string[] = [];
  const broken = new Set(['start 1', 'stop 2']);
  let made = 0;
  const make = () => {
    made += 1;
    const number = made;
    const step = (name: string) => async () => {
      said.push(`${name} ${number}`);
      if (broken.has(`${name} ${number}`)) throw new Error(`${name} ${number} fails`);
    };
    return { name: 'it', start: step('start'), stop: step('stop') };
  };
  const failures: string[] = [];
  const failed = (error: unknown) => void failures.push(String(error));
  const service = whileLeading('it', make, roles, failed);
  await service.start();
  for (const leads of [true, false, true, false, true]) set(leads);
  await service.stop();
  assert.deepEqual(said, ['start 1', 'stop 1', 'start 2', 'stop 2', 'start 3', 'stop 3']);
  assert.deepEqual(failures, ['Error: start 1 fails', 'Error: stop 2 fails']);
});
