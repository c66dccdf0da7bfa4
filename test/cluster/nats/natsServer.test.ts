/**
 * The contract of NATS on the nats-server of the PATH, and on a second one where NATS_SERVER_NEXT
 * names it. It says what 2.9 and 2.12 do; a version between them is tried by nothing here.
 */
import { spawnSync } from 'node:child_process';
import { after, test } from 'node:test';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { type NatsPlace, natsContract } from '../../contracts/nats.ts';
import { NatsServer } from '../../support/nats.ts';
import type { Scope } from '../../support/server.ts';

const common = {
  replicas: 1 as const,
  clock: systemClock,
  run: (work: () => Promise<void>) => work(),
};

/** Which rows of the contract hold; null: not known. */
function versionOf(program: string): NatsPlace['version'] | null {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  const minor = Number(/v2\.(\d+)\./.exec(stdout)?.[1]);
  if (minor >= 12) return '2.12';
  return minor === 9 ? '2.9' : null;
}

const { NATS_SERVER_NEXT: next } = process.env;
for (const program of ['nats-server', ...(next === undefined ? [] : [next])]) {
  const version = versionOf(program);
  if (version === null) {
    test('the contract of NATS', { skip: `${program} is neither 2.9 nor 2.12` }, () => {});
    continue;
  }
  const server = await NatsServer.start({ after }, [], undefined, program);
  const connect = (scope: Scope) => server.connect(scope);
  natsContract(`nats-server ${version}`, { ...common, version, connect });
}
