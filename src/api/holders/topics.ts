/** The topic `Insights`: shares of author, first buyers and largest holders, live. */
import Type from 'typebox';
import type { Fold } from '../../engine/fold/fold.ts';
import { insightsTag, LAUNCHES_TAG, poolTag } from '../../engine/fold/streamTags.ts';
import { type DataOf, type Topic, topic } from '../topics/port.ts';
import { wholeSource } from '../topics/whole.ts';
import { HELD, Insights, insightsOf } from './insights.ts';
import { InsightsQuery } from './schema.ts';

const CADENCE_MS = 1_000;
const InsightsOrNull = Type.Union([Insights, Type.Null()]);

/** Read `fold` each time: a new epoch replaces it. */
export function insightsTopic(node: { readonly fold: Fold }): Topic {
  const positions = {
    get appliedSeq() {
      return node.fold.store.checkpoint?.seq ?? 0;
    },
    get horizonSeq() {
      return node.fold.store.horizonSeq;
    },
  };
  return topic({
    name: 'Insights',
    summary:
      'Trust data of a token, as `/v1/tokens/insights` answers: whole, at most once a second, ' +
      `after a change; null while no such token was launched here. ${HELD}`,
    cadenceMs: CADENCE_MS,
    data: InsightsQuery,
    update: InsightsOrNull,
    open({ asset }) {
      const token = asset.toLowerCase();
      return wholeSource(positions, {
        key: `Insights:${token}`,
        event: 'InsightsUpdate',
        // Another launch of the same author changes the insights, too.
        tags: [poolTag(token), insightsTag(token), LAUNCHES_TAG],
        state(): DataOf<typeof InsightsOrNull> {
          const listed = node.fold.directory.find(token);
          return listed === null ? null : insightsOf(node.fold, listed.pool);
        },
        changedSince(seq) {
          const { directory } = node.fold;
          const listed = directory.find(token);
          if (listed === null) return directory.mayBeGone(token, seq, positions.appliedSeq);
          const author = directory.author(listed.pool.author.pkh);
          return listed.trustSeq > seq || (author !== null && author.changedSeq > seq);
        },
      });
    },
  });
}
