/** Fills, live: `Trades` of a token, `NewestTrades` of the market. */
import { tradesTag } from '../../engine/actors/streamTags.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { changePage } from '../../engine/store/changeIndex.ts';
import {
  type Changes,
  type DataOf,
  type Part,
  type Source,
  type Topic,
  topic,
} from '../topics/port.ts';
import { newestTradesTopic } from './newest.ts';
import { type TradeNode, TradesInput, TradesOutput, tradeOf, tradesOf } from './routes.ts';

const CADENCE_MS = 5;
const PAGE = 100;

type Trades = DataOf<typeof TradesOutput>;
type TradesPart = Part<'TradesUpdate', Trades>;

export function tradeTopics(node: TradeNode): Topic[] {
  return [
    topic({
      name: 'Trades',
      summary: 'Trades of a token as they come into blocks; `{id, removed: true}` when undone.',
      cadenceMs: CADENCE_MS,
      data: TradesInput,
      update: TradesOutput,
      open: ({ asset }) => new TradeSource(node, asset.toLowerCase()),
    }),
    newestTradesTopic(node),
  ];
}

class TradeSource implements Source<Trades, TradesPart> {
  readonly key: string;
  readonly tags: readonly string[];
  readonly #node: TradeNode;
  readonly #token: AssetId;

  constructor(node: TradeNode, token: AssetId) {
    this.key = `Trades:${token}`;
    this.tags = [tradesTag(token)];
    this.#node = node;
    this.#token = token;
  }

  snapshot(): Trades {
    const { fold } = this.#node;
    if (fold.directory.find(this.#token) === null) return null;
    return tradesOf(fold, this.#token, PAGE);
  }

  since(seq: number): Changes<TradesPart> | null {
    const { fold } = this.#node;
    const { store } = fold;
    if (seq < store.horizonSeq) return null;
    const applied = store.checkpoint?.seq ?? 0;
    const { changes, completeTo } = changePage(applied, (limit) =>
      store.changedSince(tradesTag(this.#token), seq, limit),
    );
    if (changes.length === 0) return { parts: [], completeTo };
    const ids = changes.map(({ ref }) => ref).sort();
    const data = ids
      .reverse()
      .map((id) => tradeOf(fold, this.#token, id) ?? { id, removed: true as const });
    return { parts: [{ event: 'TradesUpdate', seq: completeTo, data }], completeTo };
  }
}
