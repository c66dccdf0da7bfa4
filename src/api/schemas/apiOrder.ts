/** Orders and pages of them, as several services show them (protocol.md section 2). */
import Type from 'typebox';
import { ORDER_STATUSES } from '../../engine/market/orderView.ts';
import { Amount, AssetIdShape, KeyHash, OneOf, TxHash } from './identifiers.ts';

const SECONDS = Type.Integer({ description: 'Unix seconds.' });
const Status = OneOf(ORDER_STATUSES, {
  description: 'State of the order in chain and mempool; see the states of an order.',
});

export const ORDER_FIELDS = {
  entityId: Type.String({ description: '`<tx>:<index>` of the order output.' }),
  beacon: Type.String({ pattern: '^[0-9a-f]{56}$' }),
  from: AssetIdShape,
  fromAmount: Amount,
  to: AssetIdShape,
  toAmount: Type.String({
    pattern: '^[0-9]+$',
    description:
      'Received in all. Before that the least that the worst price accepts; 0 when given back or ' +
      'dropped.',
  }),
  filledAmount: Type.String({
    pattern: '^[0-9]+$',
    description: 'Part of `fromAmount` that was executed, in blocks.',
  }),
  remaining: Type.String({
    pattern: '^[0-9]+$',
    description: 'Part of `fromAmount` that was not executed.',
  }),
  address: Type.String({ description: 'Where the output is paid to, bech32.' }),
  worstPrice: Type.Object(
    { numerator: Amount, denominator: Amount },
    { description: 'Output per input.' },
  ),
  pendingTransactionId: Type.String({ description: 'Placed it.' }),
  evaluatedTransactionId: Type.Union([TxHash, Type.Null()], {
    description:
      'Executed (the newest part of) it, refunded or cancelled it, in a block or in the mempool.',
  }),
  timestamp: Type.Integer({
    description: 'Unix seconds of the block that placed it, or when the mempool first showed it.',
  }),
  status: Status,
  orderType: Type.Union([Type.Literal('Spot'), Type.Literal('CFMM')], {
    description: 'Spot on the curve, CFMM on the AMM: of the fill, until then as expected.',
  }),
  pkh: KeyHash,
  venue: Type.Union([Type.Literal('CURVE'), Type.Literal('AMM')]),
  evaluatedAt: Type.Union([SECONDS, Type.Null()], {
    description: 'Unix seconds of the block that ended it.',
  }),
  expiresAt: Type.Integer({
    description:
      'Unix milliseconds from which on it may be refunded. 0: it never is, and its owner may ' +
      'cancel it at any time.',
  }),
  refundReason: Type.Union([Type.Literal('cancelled'), Type.Literal('expired'), Type.Null()], {
    description: 'cancelled by its owner, or expired.',
  }),
  feeLovelace: Type.String({
    pattern: '^[0-9]+$',
    description:
      'Lovelace that its executions, in blocks, paid to the executor beside `fromAmount`. It ' +
      'does not include what a refund keeps; fees in percent are in the amounts.',
  }),
};

export const ApiOrder = Type.Object(ORDER_FIELDS, { $id: 'ApiOrder' });

export const OrderPage = Type.Object(
  {
    ledger: Type.Object({
      count: Type.Integer({
        description: 'Number of orders on all pages, within `from` and `to`.',
      }),
      items: Type.Array(ApiOrder, { description: 'On the chain, newest first.' }),
    }),
    mempool: Type.Array(ApiOrder, {
      description: 'Every order that is in no block yet, newest first.',
    }),
  },
  { $id: 'OrderPage' },
);
