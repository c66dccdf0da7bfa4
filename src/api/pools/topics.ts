/** Pools, live: one pool, the pool on top, and the lists. */
import Type from 'typebox';
import { POOLS_TAG, poolTag } from '../../engine/fold/streamTags.ts';
import { POOL_LIST_NAMES, type PoolListName } from '../../engine/market/poolView.ts';
import { type DataOf, type Topic, topic } from '../topics/port.ts';
import { wholeSource } from '../topics/whole.ts';
import { listSource } from './listSource.ts';
import { PoolFeedInput, PoolListUpdate, PoolOrNull } from './schema.ts';
import { type PoolNode, PoolViews } from './views.ts';

const POOL_CADENCE_MS = 5;
const LIST_CADENCE_MS = 100;
type PoolData = DataOf<typeof PoolOrNull>;

const NO_DATA = Type.Unknown({ description: 'None, or {}.' });

export function poolTopics(node: PoolNode): Topic[] {
  const views = new PoolViews(node);
  return [
    poolFeed(views),
    kingOfTheHill(views),
    ...POOL_LIST_NAMES.map((list) => listTopic(list, views)),
  ];
}

function listTopic(list: PoolListName, views: PoolViews): Topic {
  const source = listSource(list, views);
  return topic({
    name: list,
    cadenceMs: LIST_CADENCE_MS,
    summary:
      `The first 100 pools of the list ${list}: all of them in a snapshot, later those that ` +
      `changed or are new on the page, each time with the order of the whole page.`,
    data: NO_DATA,
    update: PoolListUpdate,
    open: () => source,
  });
}

function poolFeed(views: PoolViews): Topic {
  return topic({
    name: 'PoolFeed',
    cadenceMs: POOL_CADENCE_MS,
    summary: 'One pool with its metrics and its token, whole, whenever that changed.',
    data: PoolFeedInput,
    update: PoolOrNull,
    open({ asset }) {
      const token = asset.toLowerCase();
      return wholeSource(views, {
        key: `PoolFeed:${token}`,
        event: 'PoolFeedUpdate',
        tags: [poolTag(token)],
        state(): PoolData {
          const listed = views.directory.find(token);
          return listed === null ? null : views.view(listed);
        },
        changedSince(seq) {
          const { directory, appliedSeq } = views;
          const listed = directory.find(token);
          if (listed === null) return directory.mayBeGone(token, seq, appliedSeq);
          return listed.changedSeq > seq;
        },
      });
    },
  });
}

function kingOfTheHill(views: PoolViews): Topic {
  const source = wholeSource(views, {
    key: 'KOTH',
    event: 'KOTHUpdate',
    tags: [POOLS_TAG],
    state(): PoolData {
      const top = views.directory.top();
      return top === null ? null : views.view(top);
    },
    changedSince: (seq) => views.directory.topSeq > seq,
  });
  return topic({
    name: 'KOTH',
    cadenceMs: LIST_CADENCE_MS,
    summary: 'The pool with the highest market cap, whole, when it or its place changed.',
    data: NO_DATA,
    update: PoolOrNull,
    open: () => source,
  });
}
