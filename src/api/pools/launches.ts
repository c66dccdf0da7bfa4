/** Launches, live: from the mempool into a block, and back. */
import Type from 'typebox';
import type { Fold } from '../../engine/fold/fold.ts';
import { LAUNCHES_TAG } from '../../engine/fold/streamTags.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import type { LaunchedToken } from '../../engine/market/events.ts';
import { viewInfo } from '../../engine/market/poolView.ts';
import { changePage } from '../../engine/store/changeIndex.ts';
import { AssetIdShape, KeyHash, TxHash } from '../schemas/identifiers.ts';
import {
  type Changes,
  type DataOf,
  type Part,
  type Source,
  type Topic,
  topic,
} from '../topics/port.ts';
import { AssetInfo } from './schema.ts';

const CADENCE_MS = 5;
/** Rows of a snapshot. */
const MAX_ROWS = 50;
/** Launches that are looked at for a snapshot. */
const MAX_LOOKED_AT = 1_000;

const Input = Type.Object({
  author: Type.Optional(
    Type.String({
      ...KeyHash,
      description: 'Payment key hash of the author: only its launches.',
    }),
  ),
  assetType: Type.Optional(
    Type.String({
      maxLength: 16,
      description:
        'Only tokens with this `assetType`. The chain does not say it: every token has `Meme`.',
    }),
  ),
});
type Input = Type.Static<typeof Input>;

const Launch = Type.Object(
  {
    ...AssetInfo.properties,
    poolId: Type.String({ ...AssetIdShape, description: 'Asset id of the pool’s NFT.' }),
    txHash: Type.String({ ...TxHash, description: 'The launch.' }),
    time: Type.Integer({
      description: 'Unix seconds: of its block; while it is pending, when it was seen.',
    }),
    pending: Type.Boolean({ description: 'In the mempool, in no block yet.' }),
  },
  { $id: 'Launch' },
);
const Removed = Type.Object({ asset: AssetIdShape, removed: Type.Literal(true) });
const Update = Type.Array(Type.Union([Launch, Removed]));

type Launches = DataOf<typeof Update>;
type Row = DataOf<typeof Launch>;
type LaunchPart = Part<'NewLaunchesUpdate', Launches>;

/** Read `fold` each time: a new epoch replaces it. */
export function newLaunchesTopic(node: { readonly fold: Fold }): Topic {
  return topic({
    name: 'NewLaunches',
    summary:
      'A token when its launch is seen in the mempool (`pending: true`), and again when it is in ' +
      'a block; `{asset, removed: true}` when the launch left the mempool without a block, or a ' +
      `fork undid it. A snapshot has the newest ${MAX_ROWS} that match, among those in the ` +
      `mempool and the newest ${MAX_LOOKED_AT} in blocks: pending ones first, then by time.`,
    cadenceMs: CADENCE_MS,
    data: Input,
    update: Update,
    open: (input) => new LaunchSource(node, input),
  });
}

class LaunchSource implements Source<Launches, LaunchPart> {
  readonly key: string;
  readonly tags = [LAUNCHES_TAG];
  readonly #node: { readonly fold: Fold };
  readonly #author: string | null;
  readonly #assetType: string | null;

  constructor(node: { readonly fold: Fold }, { author, assetType }: Input) {
    this.#node = node;
    this.#author = author?.toLowerCase() ?? null;
    this.#assetType = assetType ?? null;
    this.key = `NewLaunches:${JSON.stringify([this.#author, this.#assetType])}`;
  }

  snapshot(): Launches {
    const { mempool, directory } = this.#node.fold;
    const rows: Row[] = [];
    const add = (row: Row | null) => {
      if (row !== null && this.#matches(row)) rows.push(row);
      return rows.length < MAX_ROWS;
    };
    for (const { token } of mempool.launches()) if (!add(this.#row(token))) return rows;
    let left = MAX_LOOKED_AT;
    directory.walk('New', ({ pool }) => {
      left -= 1;
      return add(this.#row(pool.token)) && left > 0;
    });
    return rows;
  }

  since(seq: number): Changes<LaunchPart> | null {
    const { store } = this.#node.fold;
    if (seq < store.horizonSeq) return null;
    const applied = store.checkpoint?.seq ?? 0;
    const { changes, completeTo } = changePage(applied, (limit) =>
      store.changedSince(LAUNCHES_TAG, seq, limit),
    );
    const data = changes.flatMap(({ ref: asset, about }): Launches[number][] => {
      if (this.#author !== null && about !== this.#author) return [];
      const row = this.#row(asset);
      if (row === null) return [{ asset, removed: true }];
      return this.#matches(row) ? [row] : [];
    });
    const part = { event: 'NewLaunchesUpdate', seq: completeTo, data } as const;
    return { parts: data.length === 0 ? [] : [part], completeTo };
  }

  #matches({ poolAuthor, assetType }: Row): boolean {
    if (this.#author !== null && poolAuthor.pkh !== this.#author) return false;
    return this.#assetType === null || assetType === this.#assetType;
  }

  /** null: it is neither in a block nor in the mempool. */
  #row(token: AssetId): Row | null {
    const { directory, mempool } = this.#node.fold;
    const listed = directory.find(token);
    if (listed !== null) {
      const { launchTx: txHash, createdMs } = listed.pool;
      // Its launch came before the first block that this market follows.
      if (txHash === '' || createdMs === null) return null;
      return rowOf(listed.pool, { txHash, timeMs: createdMs, pending: false });
    }
    const waiting = mempool.launch(token);
    if (waiting === null) return null;
    return rowOf(waiting.pool, { txHash: waiting.tx, timeMs: waiting.seenMs, pending: true });
  }
}

function rowOf(
  pool: LaunchedToken,
  { txHash, timeMs, pending }: { txHash: string; timeMs: number; pending: boolean },
): Row {
  const time = Math.floor(timeMs / 1000);
  return { ...viewInfo(pool), poolId: pool.nft, txHash, time, pending };
}
