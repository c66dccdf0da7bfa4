/**
 * Finds outputs by reference, credential, policy and asset, in the order of the chain, in pages.
 *
 * A page reads at most `limit` entries of one index in that order, and then drops entries that the
 * other conditions exclude. So a page costs the same however many outputs there are, and there is
 * no sorting. It shows outputs as of a height, after the last place of the page before. As long as
 * blocks are only added, the pages of one question fit together, even if some of their outputs are
 * forgotten meanwhile.
 */
import { fromHex } from '../cardano/codec/hex.ts';
import type { Database, Statement } from '../engine/store/database.ts';
import { type FoundOutput, foundOf, type OutputRow } from './outputTable.ts';

/** All given conditions must hold. Hashes and names are hex. */
export interface OutputQuery {
  readonly txHash?: string | undefined;
  readonly index?: number | undefined;
  readonly payment?: string | undefined;
  readonly stake?: string | undefined;
  readonly policy?: string | undefined;
  readonly assetName?: string | undefined;
  readonly status?: 'spent' | 'unspent' | undefined;
  /** Heights, the first inside and the last inside. */
  readonly made?: readonly [number, number] | undefined;
  readonly spent?: readonly [number, number] | undefined;
  readonly oldestFirst?: boolean | undefined;
}

/** Where an output lies in the chain: no two have the same. */
export interface OutputPosition {
  readonly made: number;
  /** Index of the transaction in its block. */
  readonly madeAt: number;
  readonly position: number;
}

export interface PageRequest {
  /** Outputs are shown as of this one. */
  readonly height: number;
  /** Entries that are read, whether they match or not. */
  readonly limit: number;
  /** The last of the page before. */
  readonly after: OutputPosition | null;
}

export interface Page {
  readonly found: readonly FoundOutput[];
  /** The last that was read; null where no page follows. */
  readonly last: OutputPosition | null;
}

type SearchRow = Omit<OutputRow, 'cbor'> & { readonly cbor: Uint8Array | null };
type Values = Readonly<Record<string, number | Uint8Array>>;

export class OutputSearch {
  readonly #database: Database;
  /** By their text; there are as many as there are combinations of conditions. */
  readonly #statements = new Map<string, Statement>();

  constructor(database: Database) {
    this.#database = database;
  }

  page(query: OutputQuery, request: PageRequest): Page {
    const sql = searchSql(query);
    // trust: the columns of this statement
    const rows = this.#prepared(sql).all(valuesOf(query, request)) as SearchRow[];
    const found = rows.flatMap(({ cbor, ...row }) => {
      return cbor === null ? [] : [foundOf({ ...row, cbor }, request.height)];
    });
    const last = rows.at(-1);
    if (last === undefined || rows.length < request.limit) return { found, last: null };
    const { made, made_at: madeAt, position } = last;
    return { found, last: { made, madeAt, position } };
  }

  #prepared(sql: string): Statement {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** Every condition beside the heights at which outputs were made. */
const CONDITIONS = {
  txHash: 'o.tx = @txHash',
  index: 'o.position = @index',
  payment: 'o.payment = @payment',
  stake: 'o.stake = @stake',
  policy: `EXISTS (SELECT 1 FROM output_assets x WHERE x.policy = @policy AND x.made = o.made
    AND x.made_at = o.made_at AND x.position = o.position)`,
  assetName: `EXISTS (SELECT 1 FROM output_assets x WHERE x.policy = @policy
    AND x.name = @assetName AND x.made = o.made AND x.made_at = o.made_at
    AND x.position = o.position)`,
  spent: 'o.spent BETWEEN @spentFrom AND @spentTo',
};

function searchSql(query: OutputQuery): string {
  const isOldestFirst = query.oldestFirst === true;
  const direction = isOldestFirst ? 'ASC' : 'DESC';
  const ordered = (prefix: string) =>
    ['made', 'made_at', 'position'].map((name) => `${prefix}${name} ${direction}`).join();
  const range = isOldestFirst
    ? '(e.made, e.made_at, e.position) > (@made, @madeAt, @position) AND e.made <= @end'
    : '(e.made, e.made_at, e.position) < (@made, @madeAt, @position) AND e.made >= @end';
  const conditions = Object.entries(CONDITIONS).flatMap(([name, sql]) => {
    // trust: the query uses the names of the conditions
    return query[name as keyof typeof CONDITIONS] === undefined ? [] : [sql];
  });
  if (query.status === 'unspent') conditions.push('(o.spent IS NULL OR o.spent > @height)');
  if (query.status === 'spent') conditions.push('(o.spent <= @height)');
  return `
    SELECT o.tx, o.position, o.made, o.made_at, o.spent, o.spent_by, o.spent_input,
      CASE WHEN ${['TRUE', ...conditions].join(' AND ')} THEN o.cbor END AS cbor
    FROM (${entriesSql(query)
      .map((entries) => `${PLACE} ${entries} AND ${range}`)
      .join(' UNION ')}
      ORDER BY ${ordered('')} LIMIT +@limit) p
    CROSS JOIN outputs o ON o.made = p.made AND o.made_at = p.made_at AND o.position = p.position
    ORDER BY ${ordered('p.')}`;
}

const PLACE = 'SELECT DISTINCT e.made, e.made_at, e.position FROM';

/**
 * The most selective index that the query allows. For the unspent outputs of a key, it reads the
 * unspent ones and those spent since the question began. Even a busy wallet has few of both, but
 * many that it spent earlier.
 */
function entriesSql({ txHash, payment, stake, policy, assetName, status }: OutputQuery): string[] {
  if (txHash !== undefined) return ['outputs e WHERE e.tx = @txHash'];
  if (policy !== undefined && assetName !== undefined) {
    return ['output_assets e WHERE e.policy = @policy AND e.name = @assetName'];
  }
  if (payment !== undefined && status === 'unspent') {
    return [
      'outputs e INDEXED BY outputs_unspent WHERE e.payment = @payment AND e.spent IS NULL',
      'outputs e INDEXED BY outputs_spent WHERE e.spent > @height AND e.payment = @payment',
    ];
  }
  if (payment !== undefined) {
    return ['outputs e INDEXED BY outputs_payment WHERE e.payment = @payment'];
  }
  if (stake !== undefined) return ['outputs e INDEXED BY outputs_stake WHERE e.stake = @stake'];
  if (policy !== undefined) {
    return ['output_assets e INDEXED BY output_assets_policy WHERE e.policy = @policy'];
  }
  return ['outputs e INDEXED BY outputs_made WHERE TRUE'];
}

function valuesOf(query: OutputQuery, { height, limit, after }: PageRequest): Values {
  const { txHash, index, payment, stake, policy, assetName, made, spent } = query;
  const first = made?.[0] ?? 0;
  const last = Math.min(made?.[1] ?? height, height);
  // Before the first and after the last place of a height.
  const start =
    query.oldestFirst === true
      ? { made: first, madeAt: -1, position: -1 }
      : { made: last, madeAt: Number.MAX_SAFE_INTEGER, position: 0 };
  const hex = (name: string, text: string | undefined) =>
    text === undefined ? {} : { [name]: fromHex(text) };
  return {
    ...(after ?? start),
    end: query.oldestFirst === true ? last : first,
    height,
    limit,
    ...hex('txHash', txHash),
    ...hex('payment', payment),
    ...hex('stake', stake),
    ...hex('policy', policy),
    ...hex('assetName', assetName),
    ...(index === undefined ? {} : { index }),
    ...(spent === undefined ? {} : { spentFrom: spent[0], spentTo: Math.min(spent[1], height) }),
  };
}
