import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { createLogger } from '../../../src/engine/runtime/events.ts';
import { textLog } from '../../../src/engine/runtime/textLog.ts';

/** The output of `LOG_FORMAT=text`, without the time of day. */
function textOf(log: (logger: ReturnType<typeof createLogger>) => void): string {
  let text = '';
  const destination = textLog((line) => {
    text += line.replace(/^\d\d:\d\d:\d\d /, '');
  });
  log(createLogger({ level: 'info', clock: systemClock, destination }));
  return text;
}

test('a line has level and message; what is unusual has the name that documents use', () => {
  assert.equal(
    textOf((log) => log.info({ event: 'stopped', seconds: 1 }, 'stopped')),
    'info  stopped\n',
  );
  assert.equal(
    textOf((log) => log.warn({ event: 'epochStarted' }, 'an epoch starts')),
    'warn  an epoch starts (epochStarted)\n',
  );
});

test('an error comes with its stack, indented', () => {
  const error = new Error('the disk is full');
  const text = textOf((log) => log.error({ event: 'commitFailed', err: error }, 'a commit failed'));
  const [first, second, third] = text.split('\n');
  assert.equal(first, 'error a commit failed (commitFailed)');
  assert.equal(second, '    Error: the disk is full');
  assert.match(third ?? '', /^ {4}at /);
});

test('control characters of terminals are removed', () => {
  const text = textOf((log) => log.info('a name: \u001b[2J\u009b2J\r\u0007'));
  assert.equal(text, 'info  a name: \ufffd[2J\ufffd2J\ufffd\ufffd\n');
});
