/** Pools, live: one pool, the pool on top, and the lists. */
import Type from 'typebox';
import { POOLS_TAG, poolTag, TICKERS_TAG } from '../../engine/fold/streamTags.ts';
import { POOL_LIST_NAMES, type PoolListName } from '../../engine/market/poolView.ts';
import { ListSource } from '../topics/list.ts';
import { type DataOf, type Topic, topic } from '../topics/port.ts';
import { wholeSource } from '../topics/whole.ts';
import { MAX_ON_PAGE } from './route.ts';
import { PoolFeedInput, PoolListUpdate, PoolOrNull } from './schema.ts';
import { type PoolNode, PoolViews } from './views.ts';

const POOL_CADENCE_MS = 5;
const LIST_CADENCE_MS = 100;
/** Positions; a flush makes one, so with a change in each flush it is some 13 seconds. */
const REMEMBERED = 128;
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
  const source = new ListSource({
    key: `PoolList:${list}`,
    event: `${list}Update` as const,
    tags: list === 'Trending' ? [POOLS_TAG, TICKERS_TAG] : [POOLS_TAG],
    remembered: REMEMBERED,
    state: () => views.fold,
    appliedSeq: () => views.appliedSeq,
    changedBetween: (from, to) => views.changedBetween(list, from, to),
    prepare: (isOver) => views.prepare(list, isOver),
    order: () => views.page(list, MAX_ON_PAGE).map(({ pool }) => pool.token),
    item(asset, seq) {
      const listed = views.directory.find(asset);
      return listed === null || (seq !== null && listed.changedSeq <= seq)
        ? null
        : views.view(listed);
    },
  });
  return topic({
    name: list,
    cadenceMs: LIST_CADENCE_MS,
    summary:
      `The first 100 pools of the list ${list}: all in a snapshot, later only the pools that ` +
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
