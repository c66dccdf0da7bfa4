/** Schemas of the building routes (protocol.md section 3). */
import Type from 'typebox';
import { SLIPPAGES } from '../../engine/market/order.ts';
import { SIDES } from '../../engine/market/quote.ts';
import { MAX_LINK_BYTES } from '../../engine/market/webLink.ts';
import {
  MAX_DESCRIPTION_CHARACTERS,
  MAX_NAME_BYTES,
  MAX_NAME_CHARACTERS,
  MAX_SENT_NAME_CHARACTERS,
  MAX_WAIT_SECONDS,
  MIN_WAIT_SECONDS,
  TICKER,
} from '../../engine/runtime/limits.ts';
import {
  AddressText,
  Amount,
  AssetIdShape,
  KeyHash,
  OutputId,
  TxHash,
} from '../schemas/identifiers.ts';
import { ItemError } from '../schemas/itemError.ts';
import { SERVER_WALLET } from './txBuildContext.ts';
import { Ttl, ValidUntil } from './validity.ts';

const MAX_NAMED = 1000;
const LONGEST_OUTPUT = 40_000;
const LONGEST_TRANSACTION = 65_536;
const Hex = (maxLength: number) =>
  Type.String({ pattern: '^([0-9a-fA-F]{2})+$', maxLength, description: 'Hex.' });

const Outputs = Type.Array(Hex(LONGEST_OUTPUT), { maxItems: MAX_NAMED });
const Utxos = Type.Optional(
  Type.Union([Outputs, Type.Literal(SERVER_WALLET), Type.Literal(''), Type.Null()], {
    description:
      'Outputs to spend, each hex CBOR `[input, output]` (CIP-30). Absent: the server looks up ' +
      'the wallet. Their content is always read from the ledger.',
  }),
);
const Collaterals = Type.Optional(
  Type.Union([Outputs, Type.Null()], {
    description:
      'Outputs for collateral. Absent: the server adds its own and signs for it; ' +
      'a server without collateral uses an output of the wallet.',
  }),
);
const OrderAmount = Type.String({
  pattern: '^[0-9]{1,30}$',
  description: 'Lovelace of a BUY; tokens of BUY_WITH_OUTPUT and SELL.',
});
const Side = Type.Union(SIDES.map((side) => Type.Literal(side)));
const Slippage = Type.Union(
  SLIPPAGES.map((slippage) => Type.Literal(slippage)),
  { description: 'Percent below the quoted output; `infinity` accepts any output of at least 1.' },
);

const MinOutput = Type.Optional(
  Type.String({
    pattern: '^[1-9][0-9]{0,29}$',
    description:
      'The least output that the order takes: an integer from 1 to the quoted output, or more ' +
      'with `waitFor`. It replaces the bound of `slippage`. Compute it from the quote that you ' +
      'show, so that the order is bound to it: max(1, ⌈output × (100 − slippage) / 100⌉), and ' +
      '`amount` for BUY_WITH_OUTPUT. Where the pool gives less by now and nothing waits: 409 ' +
      '`PRICE_MOVED`, and nothing is built.',
  }),
);
const WaitFor = Type.Optional(
  Type.Integer({
    minimum: MIN_WAIT_SECONDS,
    maximum: MAX_WAIT_SECONDS,
    description:
      'Seconds that a limit order waits for the pool to give `minOutput`, which may be more than ' +
      'it gives now; afterwards the order may be refunded. Absent: the deployment’s time. ' +
      'An order for a pool of Splash waits until it is filled or cancelled.',
  }),
);

const ORDER = {
  assetId: AssetIdShape,
  amount: OrderAmount,
  side: Side,
  slippage: Slippage,
  minOutput: MinOutput,
  waitFor: WaitFor,
  ttl: Ttl,
};
export const QuoteQuery = Type.Object(ORDER);
const MAX_QUOTES = 50;
export const QuotesBody = Type.Array(Type.Object(ORDER), {
  minItems: 1,
  maxItems: MAX_QUOTES,
  description: `1 to ${MAX_QUOTES} orders.`,
});
export const OrderBody = Type.Object({ ...ORDER, changeAddress: AddressText, utxos: Utxos });
export type OrderBody = Type.Static<typeof OrderBody>;

const Fraction = Type.Object({ numerator: Amount, denominator: Amount });
const QUOTE = {
  price: Fraction,
  pool: {
    ...OutputId,
    description: "The pool's newest output, mempool included; the quote is for it.",
  },
  priceQuote: Type.Literal('.'),
  priceBase: AssetIdShape,
  outputAmount: Amount,
  inputAmount: Amount,
  outputAsset: AssetIdShape,
  inputAsset: AssetIdShape,
  worstPrice: Fraction,
  minimumOutput: Amount,
  orderScript: Type.String({
    pattern: '^[0-9a-f]{56}$',
    description: 'Hash of the script that holds such an order: compare it before you sign.',
  }),
  expiresAt: Type.Integer({
    description:
      'Unix ms from which the order may be refunded. 0: it never is, and its owner may cancel it ' +
      'at any time.',
  }),
  validUntil: ValidUntil,
  fees: Type.Object({
    percentFee: Amount,
    platform: Amount,
    creator: Amount,
    executorFee: Amount,
    deposit: Type.String({ description: 'Comes back with the fill.' }),
  }),
  venue: Type.Union([Type.Literal('CURVE'), Type.Literal('AMM')]),
};
export const QuoteAnswer = Type.Object(QUOTE);
export const QuotesAnswer = Type.Array(Type.Union([QuoteAnswer, ItemError]));
export const OrderAnswer = Type.Object({
  id: TxHash,
  cbor: Hex(LONGEST_TRANSACTION),
  beacon: Type.String({ description: '56 hex digits; the name of the order.' }),
  ...QUOTE,
  txHash: TxHash,
  entityId: Type.String({ description: '`<tx>:<index>`' }),
  networkFee: Amount,
});

export const CancelBody = Type.Object({
  txHash: Type.String({ pattern: '^[0-9a-fA-F]{64}$' }),
  index: Type.Union([
    Type.String({ pattern: '^[0-9]{1,5}$' }),
    Type.Integer({ minimum: 0, maximum: 65_535 }),
  ]),
  changeAddress: AddressText,
  utxos: Utxos,
  collaterals: Collaterals,
  ttl: Ttl,
});
export type CancelBody = Type.Static<typeof CancelBody>;

const Asset = Type.Object({
  unit: AssetIdShape,
  amount: Type.String({ pattern: '^[0-9]{1,30}$' }),
});
export const TransferBody = Type.Object({
  utxos: Utxos,
  changeAddress: AddressText,
  distAddress: AddressText,
  transferAssets: Type.Object({
    lovelace: Type.String({ pattern: '^([0-9]{1,20}|max)$' }),
    assets: Type.Optional(Type.Union([Type.Array(Asset, { maxItems: 100 }), Type.Null()])),
  }),
  ttl: Ttl,
});
export type TransferBody = Type.Static<typeof TransferBody>;

export const PartialAnswer = Type.Object({
  id: TxHash,
  cbor: Hex(LONGEST_TRANSACTION),
  partial: Type.Boolean({ description: 'The server has signed for its collateral.' }),
  validUntil: ValidUntil,
});

export const SignBody = Type.Object({
  cbor: Hex(LONGEST_TRANSACTION),
  witness: Hex(LONGEST_TRANSACTION),
  changeAddress: AddressText,
});
export type SignBody = Type.Static<typeof SignBody>;
export const SubmitBody = Type.Object({ cbor: Hex(LONGEST_TRANSACTION) });
export const SignedAnswer = Type.Object({ cbor: Hex(LONGEST_TRANSACTION) });
export const SubmittedAnswer = Type.Object({ txHash: TxHash });

const Url = Type.Optional(
  Type.Union([Type.String({ maxLength: MAX_LINK_BYTES }), Type.Null()], {
    description:
      'An absolute https URL without user, password, spaces and backslashes. It is stored as a ' +
      'URL parser prints it.',
  }),
);
export const LaunchInfo = Type.Object({
  assetType: Type.Union([Type.Literal('Meme'), Type.Literal('AI')]),
  name: Type.String({
    maxLength: MAX_SENT_NAME_CHARACTERS,
    description:
      `1 to ${MAX_NAME_CHARACTERS} characters, at most ${MAX_NAME_BYTES} bytes of UTF-8. No ` +
      'control, bidirectional or invisible characters; joiners stay where an emoji ' +
      'or a script is written with them.',
  }),
  ticker: Type.String({ pattern: TICKER.source }),
  description: Type.String({
    maxLength: MAX_DESCRIPTION_CHARACTERS,
    description: 'May be empty. No bidirectional control characters.',
  }),
  twitter: Url,
  discord: Url,
  telegram: Url,
  website: Url,
  launchType: Type.Optional(
    Type.Union([Type.Literal('DEFAULT'), Type.Literal('HYPED'), Type.Literal(''), Type.Null()]),
  ),
  initialDeposit: Type.Optional(
    Type.Union([Type.String({ pattern: '^[0-9]{0,20}$' }), Type.Null()], {
      description: 'Lovelace of the initial buy; "0" is none.',
    }),
  ),
  changeAddress: AddressText,
  utxos: Utxos,
  collaterals: Collaterals,
  ttl: Ttl,
});
export type LaunchInfo = Type.Static<typeof LaunchInfo>;
export const LaunchForm = Type.Object({ info: LaunchInfo });
export const LaunchAnswer = Type.Object({
  id: TxHash,
  cbor: Hex(LONGEST_TRANSACTION),
  partial: Type.Boolean(),
  validUntil: ValidUntil,
  assetId: AssetIdShape,
  assetSubject: Type.String({ description: 'The name of the asset, hex.' }),
  policyId: Type.String(),
  logoCID: Type.String(),
  userOutputTokens: Type.Optional(Amount),
});

export const ParametersAnswer = Type.Object({
  tokenEmission: Amount,
  aNum: Amount,
  aDenom: Amount,
  bNum: Amount,
  bDenom: Amount,
  adaThreshold: Amount,
  fixedFee: Amount,
  minTradeAda: Amount,
  percentFee: Type.Number(),
  deployScript: Type.String({ description: 'Policy of pool NFTs, under which tokens launch.' }),
});

const Quantity = Type.Object({
  human: Type.String({ description: 'In display units: ADA, or tokens.' }),
  raw: Amount,
});
const ScriptHash = Type.String({ pattern: '^[0-9a-f]{56}$', description: 'Hash of a script.' });
const Script = Type.Object({
  hash: ScriptHash,
  reference: Type.String({ description: '`<tx>:<index>` of the output that holds it.' }),
});
export const ConfigAnswer = Type.Object({
  version: Type.Literal(2, { description: 'Version of this shape.' }),
  network: Type.String({ description: 'Network in addresses: mainnet or testnet.' }),
  environment: Type.String(),
  addresses: Type.Object({
    fee: AddressText,
    metadata: AddressText,
    executor: KeyHash,
    launchPolicy: ScriptHash,
    scripts: Type.Record(Type.String(), Script),
  }),
  parameters: Type.Object({
    tokenEmission: Quantity,
    aNum: Amount,
    aDenom: Amount,
    bNum: Amount,
    bDenom: Amount,
    adaThreshold: Quantity,
    executorFee: Quantity,
    fixedFee: Quantity,
    orderDeposit: Quantity,
    minTradeAda: Quantity,
    poolKeep: Quantity,
    refundFee: Quantity,
    percentFee: Type.Number(),
    creatorFeePer10k: Type.Integer(),
    platformFeePer10k: Type.Integer(),
    lpFeePer10k: Type.Integer(),
    refundAfterMs: Type.Integer({ description: 'An order may be refunded so long after it.' }),
  }),
});
