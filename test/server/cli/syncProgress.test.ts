/** Progress in a terminal while a node reads a chain for the first time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showSync } from '../../../src/server/cli/serve.ts';
import { HandClock } from '../../support/handClock.ts';

const UNKNOWN = { slot: null, tipSlot: null, blocksBehind: null, blocksPerSecond: 0 };

function followed(isTerminal = true) {
  const clock = new HandClock();
  const texts: string[] = [];
  const reached: { percent: number | null; isSynced: boolean } = { percent: null, isSynced: false };
  const sync = {
    isSynced: () => reached.isSynced,
    progress: () => ({ ...UNKNOWN, percent: reached.percent, secondsLeft: 90 }),
  };
  const print = (text: string) => void texts.push(text);
  const draw = (line: string) => {
    if (line !== texts.at(-1)) texts.push(line);
  };
  const end = showSync(sync, { clock }, isTerminal ? { print, draw } : { print });
  return { clock, texts, reached, end };
}

test('a bar with the time that is left, until the node has caught up', async () => {
  const { clock, texts, reached, end } = followed();
  await clock.advance(1_000);
  assert.deepEqual(texts, [], 'nothing is known yet');
  reached.percent = 40;
  await clock.advance(1_000);
  assert.match(texts.splice(0).at(-1) ?? '', /sync █{12}░{18} 40 %, 1:30 left$/);
  reached.isSynced = true;
  await clock.advance(1_000);
  end();
  await clock.advance(1_000);
  assert.deepEqual(texts.splice(0), [''], 'it is gone');
});

test('where nothing is drawn the log alone says it', async () => {
  const { clock, texts, reached } = followed(false);
  reached.percent = 40;
  await clock.advance(60_000);
  assert.deepEqual(texts, []);
});
