/**
 * Holders of a token, by payment key: confirmed outputs and own open sell orders together; an
 * address without a payment key holds for itself. And which keys are bundlers, snipers or insiders.
 * Sums and the largest holdings stand in the pool's row (`PoolFacts.trust`).
 *
 * Keys: `holder_tokens` `<token>/<holder>`, for holders with tokens or a mark: the amount, and
 * behind a space the marks. `holder_ranks` `<token>/<complement of the amount>/<holder>`, so that
 * the largest holding has the smallest key: the amount.
 *
 * Undo: before-images, as for every row.
 */
import type { AssetId } from '../market/asset.ts';
import type { MarketEvent } from '../market/events.ts';
import { type EarlyBuy, type HolderGroup, TOP_HOLDERS, type TrustFacts } from '../market/trust.ts';
import { assert } from '../runtime/assert.ts';
import type { OrderRecord, PoolRecord } from '../store/records.ts';
import { textOf } from '../store/rows.ts';
import type { RowDraft } from './rowDraft.ts';
import { insightsTag } from './streamTags.ts';

/** Above every amount: an output holds less than 2^64. */
const ABOVE_AMOUNTS = 10n ** 24n;
const BUNDLER = 'b';
const SNIPER = 's';
const INSIDER = 'i';

interface Holder {
  readonly tokens: bigint;
  readonly marks: string;
}

/** Tokens that payment keys gained and lost in one transaction. */
interface Movements {
  readonly token: AssetId;
  readonly net: Map<string, bigint>;
  /** Gains of fills and of withdrawn locks: they make no insider. */
  readonly excused: Map<string, bigint>;
}

/** Feed it the events of a block in their order, then call `finish`. */
export class TrustFold {
  readonly #rows: RowDraft;
  #tx = '';
  readonly #moved = new Map<AssetId, Movements>();

  constructor(rows: RowDraft) {
    this.#rows = rows;
  }

  /** `event` is the next one. */
  nextEvent({ tx }: MarketEvent): void {
    if (tx === this.#tx) return;
    this.#endTransaction();
    this.#tx = tx;
  }

  /** `pkh` null: the address has no payment key. */
  addHolding(token: AssetId, pkh: string | null, address: string, by: bigint): void {
    this.#add(token, pkh ?? address, by);
    if (pkh !== null) add(this.#movementsOf(token).net, pkh, by);
  }

  orderPlaced({ token, side, pkh, address, amount }: OrderRecord): void {
    if (side === 'sell') this.addHolding(token, pkh, address, BigInt(amount));
  }

  /** An order was executed, whole or in part; `amount` of its input asset is gone. */
  fill({ token, side, pkh, early }: OrderRecord, amount: string): void {
    if (side === 'sell') this.#add(token, pkh, -BigInt(amount));
    else if (early !== undefined) this.#markBuyer(token, pkh, early);
  }

  /** An order ended; its remaining offer goes back, and a buy pays out `received` tokens. */
  orderEnded(
    { token, side, pkh, address, rest, ...order }: OrderRecord,
    left: string,
    received: string,
  ) {
    const held = BigInt(rest?.heldTokens ?? order.heldTokens ?? '0');
    if (side === 'sell') this.addHolding(token, pkh, address, -BigInt(left));
    else this.excuse(token, pkh, held + BigInt(received));
  }

  /** That many tokens which this transaction brings to the key make it no insider. */
  excuse(token: AssetId, pkh: string, tokens: bigint): void {
    if (tokens > 0n) add(this.#movementsOf(token).excused, pkh, tokens);
  }

  lock(token: AssetId, by: bigint): void {
    const { trust } = this.#pool(token);
    this.#set(token, { ...trust, locked: String(BigInt(trust.locked) + by) });
  }

  /** Writes ranks and sums. */
  finish(): void {
    this.#endTransaction();
    const byToken = Map.groupBy(this.#rows.changes('holder_tokens'), ({ key }) => tokenOf(key));
    for (const [token, changes] of byToken) {
      const moves = changes.map(({ key, before, after }) => ({
        holder: key.slice(token.length + 1),
        before: holderOf(before === null ? null : textOf(before)),
        after: holderOf(after === null ? null : textOf(after)),
      }));
      for (const move of moves) this.#rank(token, move);
      this.#set(token, this.#sum(token, moves));
    }
  }

  #endTransaction(): void {
    for (const movements of this.#moved.values()) this.#markInsiders(movements);
    this.#moved.clear();
  }

  #markInsiders({ token, net, excused }: Movements): void {
    const { launchTx, author } = this.#pool(token);
    if (launchTx === '') return;
    const isLaunch = launchTx === this.#tx;
    if (!isLaunch && (author.pkh === '' || (net.get(author.pkh) ?? 0n) >= 0n)) return;
    for (const [pkh, gain] of net) {
      if (pkh === author.pkh || gain <= (excused.get(pkh) ?? 0n)) continue;
      this.#mark(token, pkh, INSIDER);
    }
  }

  #markBuyer(token: AssetId, pkh: string, early: EarlyBuy): void {
    if (pkh === this.#pool(token).author.pkh) return;
    this.#mark(token, pkh, early === 'bundler' ? BUNDLER : SNIPER);
  }

  #mark(token: AssetId, pkh: string, mark: string): void {
    const { tokens, marks } = this.#holder(token, pkh);
    if (!marks.includes(mark)) this.#put(token, pkh, { tokens, marks: marks + mark });
  }

  #add(token: AssetId, holder: string, by: bigint): void {
    const { tokens, marks } = this.#holder(token, holder);
    assert(tokens + by >= 0n, `${holder} holds the tokens of ${token} that it gives away`);
    this.#put(token, holder, { tokens: tokens + by, marks });
  }

  #holder(token: AssetId, holder: string): Holder {
    return holderOf(this.#rows.get('holder_tokens', `${token}/${holder}`));
  }

  #put(token: AssetId, holder: string, { tokens, marks }: Holder): void {
    const text = marks === '' ? String(tokens) : `${tokens} ${marks}`;
    this.#rows.set('holder_tokens', `${token}/${holder}`, text === '0' ? null : text);
  }

  #rank(token: AssetId, { holder, before, after }: Move): void {
    if (before.tokens === after.tokens) return;
    const key = ({ tokens }: Holder) => {
      return `${token}/${String(ABOVE_AMOUNTS - tokens).padStart(24, '0')}/${holder}`;
    };
    if (before.tokens > 0n) this.#rows.set('holder_ranks', key(before), null);
    if (after.tokens > 0n) this.#rows.set('holder_ranks', key(after), String(after.tokens));
  }

  #sum(token: AssetId, moves: readonly Move[]): TrustFacts {
    const { trust, author } = this.#pool(token);
    const sumOf = (group: HolderGroup, isIn: (marks: string) => boolean): HolderGroup => {
      let [keys, tokens] = [group.keys, BigInt(group.tokens)];
      for (const { before, after } of moves) {
        if (isIn(before.marks)) [keys, tokens] = [keys - 1, tokens - before.tokens];
        if (isIn(after.marks)) [keys, tokens] = [keys + 1, tokens + after.tokens];
      }
      return { keys, tokens: String(tokens) };
    };
    const isOne = ({ tokens }: Holder) => (tokens > 0n ? 1 : 0);
    const more = moves.reduce((sum, { before, after }) => sum + isOne(after) - isOne(before), 0);
    const ofAuthor = moves.find(({ holder }) => holder === author.pkh);
    return {
      holders: trust.holders + more,
      top: this.#top(token, trust, moves).map(String),
      author: ofAuthor === undefined ? trust.author : String(ofAuthor.after.tokens),
      locked: trust.locked,
      bundlers: sumOf(trust.bundlers, (marks) => marks.includes(BUNDLER)),
      snipers: sumOf(trust.snipers, isSniper),
      insiders: sumOf(trust.insiders, (marks) => marks.includes(INSIDER)),
    };
  }

  /** Reads ranks only where a holding of the last top ones shrank below the others of them. */
  #top(token: AssetId, { holders, top }: TrustFacts, moves: readonly Move[]): bigint[] {
    const known = top.map(BigInt);
    // All other holdings are at most this large.
    const floor = holders > known.length ? (known.at(-1) ?? 0n) : 0n;
    for (const { before, after } of moves) {
      const index = before.tokens === 0n ? -1 : known.indexOf(before.tokens);
      if (index >= 0) known.splice(index, 1);
      if (after.tokens > 0n && after.tokens >= floor) known.push(after.tokens);
    }
    if (floor > 0n && known.length < TOP_HOLDERS) return this.#readTop(token, moves);
    return largest(known);
  }

  #readTop(token: AssetId, moves: readonly Move[]): bigint[] {
    const moved = new Set(moves.map(({ holder }) => holder));
    const rows = this.#rows.largestHolders(token, TOP_HOLDERS + moved.size);
    const others = rows.filter(({ key }) => !moved.has(key.slice(key.lastIndexOf('/') + 1)));
    const amounts = others.map(({ value }) => BigInt(value));
    return largest([...amounts, ...moves.map(({ after }) => after.tokens)]);
  }

  #movementsOf(token: AssetId): Movements {
    const known = this.#moved.get(token);
    if (known !== undefined) return known;
    const movements = { token, net: new Map(), excused: new Map() };
    this.#moved.set(token, movements);
    return movements;
  }

  #pool(token: AssetId): PoolRecord {
    const pool = this.#rows.record<PoolRecord>('pools', token);
    assert(pool !== null, `${token} is in pools`);
    return pool;
  }

  #set(token: AssetId, trust: TrustFacts): void {
    const pool = this.#pool(token);
    if (JSON.stringify(trust) === JSON.stringify(pool.trust)) return;
    this.#rows.put('pools', token, { ...pool, trust });
    this.#rows.tags.add(insightsTag(token));
  }
}

/** The change of one holder in a block. */
interface Move {
  readonly holder: string;
  readonly before: Holder;
  readonly after: Holder;
}

function holderOf(text: string | null): Holder {
  const [tokens = '0', marks = ''] = (text ?? '0').split(' ');
  return { tokens: BigInt(tokens), marks };
}

function isSniper(marks: string): boolean {
  return marks.includes(SNIPER) && !marks.includes(BUNDLER);
}

function largest(amounts: readonly bigint[]): bigint[] {
  const held = amounts.filter((amount) => amount > 0n);
  return held.sort((a, b) => Number(b > a) - Number(b < a)).slice(0, TOP_HOLDERS);
}

function tokenOf(key: string): AssetId {
  return key.slice(0, key.indexOf('/'));
}

function add(sums: Map<string, bigint>, key: string, by: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + by);
}
