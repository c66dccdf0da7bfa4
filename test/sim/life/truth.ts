/**
 * The cluster's answers against the answers of a node that is alone and new: it follows the same
 * chain from its start, without the log, snapshots, rollbacks and changes of leader that the others
 * went through. The chain is the truth of a market, so both must show the same.
 */
import assert from 'node:assert/strict';
import { recordOf } from '../../support/subscription.ts';
import type { VirtualTime } from '../machine/virtualTime.ts';
import { type Life, messageOf } from './life.ts';
import type { HttpAnswer, LifeNode } from './ports.ts';

interface Question {
  readonly path: string;
  /** The part of the answer that follows from the chain alone. Absent: all of it. */
  readonly part?: string;
  readonly body?: string;
}

const LISTS = ['Latest', 'New', 'MCapDesc', 'CompletedCreateOn', 'CompletedMCap', 'Trending'];
const ALL_TIME = 'from=0&to=253402300799';
/** The new node follows the whole chain. */
const MAX_START_MS = 600_000;
const MAX_ANSWER_MS = 30_000;
const LOOK_MS = 1_000;
/** A block may come between two answers. */
const ATTEMPTS = 5;

/** null: both show the same. The market rests, and `node` is well. */
export async function differenceFromChain(
  time: VirtualTime,
  life: Life,
  node: LifeNode,
): Promise<string | null> {
  const alone = life.deps.newNode('alone', { isAlone: true });
  await time.settle(alone.start(), MAX_START_MS);
  try {
    for (const question of questionsOf(life.deps.chain.tokens)) {
      const found = await compare(time, question, node, alone);
      if (found !== null) return `${question.path}: ${found}`;
    }
    return null;
  } finally {
    await time.settle(alone.stop(), MAX_START_MS);
  }
}

function questionsOf(tokens: readonly string[]): Question[] {
  const lists = LISTS.map((filter) => `/v1/pools-main-page/initial/state?filter=${filter}`);
  const ofTokens = tokens.flatMap((token): Question[] => {
    const bars = `history?base=${token}&quote=.&resolution=min1&${ALL_TIME}`;
    return [
      { path: `/v1/pools-feed/initial/state?asset=${token}` },
      // Orders that wait in the mempool, or were dropped from it, are not in the chain.
      { path: `/v1/orders-feed/initial/state?asset=${token}`, part: 'ledger', body: '[]' },
      { path: `/v1/trades?asset=${token}` },
      { path: `/v1/charts/${bars}` },
      { path: `/v1/charts/mcap/${bars}` },
      { path: `/balances/v1/pool/holders?assetId=${token}` },
    ];
  });
  return [...lists.map((path) => ({ path })), ...ofTokens];
}

async function compare(
  time: VirtualTime,
  { path, part, body }: Question,
  node: LifeNode,
  alone: LifeNode,
): Promise<string | null> {
  let why = '';
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const method = body === undefined ? 'GET' : 'POST';
    const both = Promise.all([node, alone].map((one) => one.request(method, path, body)));
    const [shown, followed] = await time.settle(both, MAX_ANSWER_MS);
    if (isAtOneBlock(shown, followed)) {
      try {
        assert.deepEqual(partOf(shown, part), partOf(followed, part));
        return null;
      } catch (error) {
        return `${node.name} differs from what the chain says: ${messageOf(error)}`;
      }
    }
    why = `${node.name} ${placeOf(shown)}, alone ${placeOf(followed)}`;
    await time.run(time.nowMs + LOOK_MS);
  }
  return `they are not at one block: ${why}`;
}

function isAtOneBlock(a: HttpAnswer | null | undefined, b: HttpAnswer | null | undefined): boolean {
  return a?.status === b?.status && placeOf(a) === placeOf(b);
}

function placeOf(answer: HttpAnswer | null | undefined): string {
  return `${answer?.status} at ${answer?.headers['x-block-hash']}`;
}

function partOf(answer: HttpAnswer | null | undefined, part: string | undefined): unknown {
  const body = answer?.body ?? '';
  if (answer?.status !== 200) return body;
  const value: unknown = JSON.parse(body);
  return part === undefined ? value : recordOf(value)[part];
}
