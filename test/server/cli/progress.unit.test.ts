/** Progress on standard error: a bar on a terminal, a line now and then for logs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProcessOutput } from '../../../src/server/cli/processOutput.ts';
import { Progress } from '../../../src/server/cli/progress.ts';
import { HandClock } from '../../support/handClock.ts';

function told(isTerminal: boolean) {
  const clock = new HandClock();
  const texts: string[] = [];
  const stream = { isTTY: isTerminal, write: (text: string) => texts.push(text) };
  const output = new ProcessOutput(stream, stream);
  return { clock, texts, output, progress: new Progress('verify', clock, output) };
}

const BAR = '█'.repeat(7) + '░'.repeat(23);

test('a terminal gets a bar that is drawn over itself and is gone at the end', async () => {
  const { clock, texts, progress } = told(true);
  progress.show(1, 4);
  assert.deepEqual(texts, [], 'what is over at once shows no bar');
  await clock.advance(1_000);
  progress.show(1, 4);
  progress.show(2, 4);
  assert.deepEqual(
    texts.splice(0),
    [`\r\x1b[Kverify ${BAR} 25 %, 0:03 left\r`],
    'not twice at once',
  );
  await clock.advance(1_000);
  progress.show(3, 4, 75);
  assert.match(texts.splice(0).join(''), /75 %, 1:15 left/, 'as the caller knows it');
  progress.end();
  progress.end();
  assert.deepEqual(texts, ['\r\x1b[K']);
});

test('a line of the log or of an error takes the bar away before it', async () => {
  const { clock, texts, output, progress } = told(true);
  for (const write of ['write', 'print'] as const) {
    await clock.advance(1_000);
    progress.show(1, 4);
    assert.match(texts.splice(0).join(''), /25 %/);
    output[write]('a line that is shorter\n');
    output[write]('another\n');
    assert.deepEqual(texts.splice(0), ['\r\x1b[K', 'a line that is shorter\n', 'another\n']);
  }
});

test('elsewhere there is a line every ten seconds, and none for what is short', async () => {
  const { clock, texts, progress } = told(false);
  for (const done of [10, 20, 30, 40]) {
    await clock.advance(5_000);
    progress.show(done, 80);
  }
  progress.end();
  assert.deepEqual(texts, ['verify: 25 %, 0:30 left\n', 'verify: 50 %, 0:20 left\n']);
});
