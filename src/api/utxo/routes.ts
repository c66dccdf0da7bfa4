/** A wallet's unspent outputs (protocol.md section 4). */
import Type from 'typebox';
import { parseRef, type Utxo } from '../../cardano/codec/output.ts';
import type { UtxoLookup } from '../../cardano/ledger/port.ts';
import type { Route } from '../gateway/port.ts';
import { jsonAnswer, route } from '../gateway/route.ts';
import { Amount, KeyHash, OutputId, TxHash } from '../schemas/identifiers.ts';

const MAX_LIMIT = 1000;
const DEFAULT_LIMIT = 100;
const MAX_OFFSET = 1_000_000_000;

const GetUtxos = Type.Object({
  pkh: KeyHash,
  offset: Type.Optional(
    Type.Union([Type.Integer({ minimum: 0, maximum: MAX_OFFSET }), Type.Null()]),
  ),
  limit: Type.Optional(Type.Union([Type.Integer({ minimum: 1, maximum: MAX_LIMIT }), Type.Null()])),
  query: Type.Optional(Type.Union([Type.Literal('unspent'), Type.Literal(''), Type.Null()])),
  after: Type.Optional(Type.Union([OutputId, Type.Literal(''), Type.Null()])),
});

const UtxoRow = Type.Object({
  txHash: TxHash,
  index: Type.Integer({ minimum: 0 }),
  address: Type.String({ description: 'bech32' }),
  value: Type.Array(
    Type.Object({
      unit: Type.String({ description: '`lovelace` or an asset id' }),
      amount: Amount,
    }),
  ),
});

export function utxoRoutes(utxos: UtxoLookup): Route[] {
  return [
    route({
      method: 'POST',
      path: '/getUtxos',
      operationId: 'getUtxos',
      tag: 'UTxO monitor',
      summary: 'Unspent outputs of all addresses with one payment key',
      description:
        'Ordered by transaction hash and index. Outputs that a waiting transaction spends are ' +
        'left out, and so are outputs of waiting transactions. For an exact walk give `after`, ' +
        'the last row of the page before.',
      body: GetUtxos,
      answers: { 200: { description: 'A page', schema: Type.Array(UtxoRow) } },
      rate: 'read',
      needsSync: true,
      positioned: false,
      async handle({ body: { pkh, offset, limit, after } }) {
        const last = after == null || after === '' ? null : parseRef(after);
        const found = await utxos.byPaymentKey(pkh.toLowerCase(), 'spendable', {
          offset: offset ?? 0,
          limit: limit ?? DEFAULT_LIMIT,
          ...(last === null ? {} : { after: last }),
        });
        return jsonAnswer(found.map(row));
      },
    }),
  ];
}

function row({ ref, output }: Utxo): Type.Static<typeof UtxoRow> {
  const { lovelace, assets } = output.value;
  const value = [{ unit: 'lovelace', amount: String(lovelace) }];
  for (const [unit, amount] of assets) value.push({ unit, amount: String(amount) });
  return { txHash: ref.txHash, index: ref.index, address: output.address, value };
}
