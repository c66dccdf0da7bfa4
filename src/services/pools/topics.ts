/** `PoolFeed`: one pool, live. Its whole state is small, so every change says all of it. */
import type Type from 'typebox';
import { poolTag } from '../../actors/chainRows.ts';
import type { Json } from '../../runtime/json.ts';
import type { Part, Source, Topic } from '../../topics/port.ts';
import { PoolDirectory, type PoolNode } from './directory.ts';
import { PoolFeedInput, PoolFeedOutput } from './schema.ts';

const CADENCE_MS = 5;
const UPDATE = 'PoolFeedUpdate';

export function poolTopics(node: PoolNode): Topic[] {
  const directory = new PoolDirectory(node);
  return [
    {
      name: 'PoolFeed',
      event: UPDATE,
      otherEvents: [],
      summary: 'One pool with its metrics and its token, whole, whenever it may have changed.',
      cadenceMs: CADENCE_MS,
      periodic: false,
      input: PoolFeedInput,
      output: PoolFeedOutput,
      open(data) {
        // trust: the gateway has checked the data against `input`
        const { asset } = data as Type.Static<typeof PoolFeedInput>;
        return poolSource(directory, asset.toLowerCase());
      },
    },
  ];
}

function poolSource(directory: PoolDirectory, token: string): Source {
  const state = (): Json => directory.view(token);
  return {
    key: `PoolFeed:${token}`,
    tags: [poolTag(token)],
    snapshot: state,
    since(seq): Part[] | null {
      if (seq < directory.horizonSeq) return null;
      const applied = directory.checkpoint?.seq ?? 0;
      return seq < applied ? [{ event: UPDATE, seq: applied, data: state() }] : [];
    },
  };
}
