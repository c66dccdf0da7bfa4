/**
 * Tools that sign with the wallet's file. The server builds a transaction, the client compares the
 * transaction with the tool's arguments, the user sees a text made from the bytes, and the wallet
 * signs only after a yes; the wallet signs exactly these bytes. A program that cannot ask its user
 * cannot sign.
 */
import Type, { type Static, type TObject } from 'typebox';
import { checkOf } from '../../../api/gateway/input.ts';
import type { Ask, Called, OwnTool } from '../../../api/mcp/server.ts';
import type { Value } from '../../../cardano/codec/value.ts';
import { ApiError } from '../../../client/index.ts';
import { formatAda } from '../../../client/trade/ada.ts';
import { pictureOf } from '../../../client/trade/picture.ts';
import type {
  PreparedTx,
  SubmittedTx,
  TradingClient,
} from '../../../client/trade/tradingClient.ts';
import { balanceOf } from '../../../client/trade/utxo.ts';
import { type AssetId, COIN, parseAsset } from '../../../engine/market/asset.ts';
import { SLIPPAGES } from '../../../engine/market/order.ts';
import {
  CATALOGUE,
  type Cause,
  Failure,
  invalid,
  invalidField,
} from '../../../engine/runtime/errors.ts';
import {
  MAX_DESCRIPTION_CHARACTERS,
  MAX_SENT_NAME_CHARACTERS,
  MAX_STAGES,
  TICKER,
} from '../../../engine/runtime/limits.ts';

type Open = () => TradingClient | Failure;

const AMOUNT = '^[1-9][0-9]{0,29}$';
const Amount = (description: string) => Type.String({ pattern: AMOUNT, description });
const Asset = Type.String({ description: 'Id of a token: <56 hex policy>.<hex name>.' });
const Ref = Type.String({ pattern: '^[0-9a-fA-F]{64}:\\d{1,5}$', description: '<tx>:<index>.' });

const ORDER = Type.Object({
  assetId: Asset,
  side: Type.Enum(['BUY', 'BUY_WITH_OUTPUT', 'SELL']),
  amount: Amount('Lovelace of a BUY, tokens of the others.'),
  slippage: Type.Optional(
    Type.Enum([...SLIPPAGES], { description: 'Percent that the price may fall; 15 if absent.' }),
  ),
  minOutput: Type.Optional(Amount('Instead: the least that it accepts.')),
});

const LAUNCH = Type.Object({
  name: Type.String({ maxLength: MAX_SENT_NAME_CHARACTERS }),
  ticker: Type.String({ pattern: TICKER.source }),
  description: Type.String({ maxLength: MAX_DESCRIPTION_CHARACTERS }),
  assetType: Type.Enum(['Meme', 'AI']),
  launchType: Type.Optional(Type.Enum(['DEFAULT', 'HYPED'])),
  initialLovelace: Type.Optional(Amount('A first buy in the same transaction.')),
});

const LOCK = Type.Object({
  assetId: Asset,
  amount: Amount('Tokens.'),
  lockEnd: Type.Integer({ description: 'Unix milliseconds at which the last stage opens.' }),
  stages: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_STAGES, description: '1 if absent.' }),
  ),
});

const REF = Type.Object({ id: Ref });
const TRANSFER = Type.Object({
  to: Type.String({ description: 'Address.' }),
  lovelace: Amount('Lovelace.'),
});

export function walletTools(open: Open): OwnTool[] {
  return [
    {
      tool: {
        name: 'walletBalance',
        description: 'Address of the wallet on this machine, and what it holds.',
        inputSchema: { type: 'object', properties: {}, additionalProperties: false },
        annotations: { readOnlyHint: true },
      },
      call: () => withWallet(open, balance),
    },
    signing(open, 'walletOrder', 'Place an order and sign it', ORDER, async (trading, given) => {
      const assetId = assetOf(given.assetId);
      if (assetId instanceof Failure) return assetId;
      const { side, slippage = '15', minOutput } = given;
      const least = minOutput === undefined ? {} : { minOutput: BigInt(minOutput) };
      const amount = BigInt(given.amount);
      const prepared = await trading.prepareOrder({ assetId, side, amount, slippage, ...least });
      const { inputAmount, minimumOutput, inputAsset, outputAsset } = prepared.terms;
      const what =
        `${side}: pays ${text(inputAsset, inputAmount)} for at least ` +
        text(outputAsset, minimumOutput);
      return { prepared, what };
    }),
    signing(open, 'walletLaunch', 'Launch a token and sign it', LAUNCH, async (trading, given) => {
      const { initialLovelace = '0', launchType = 'DEFAULT', ...info } = given;
      const image = new Blob([pictureOf(info.name + info.ticker)], { type: 'image/png' });
      const first = BigInt(initialLovelace);
      const request = { ...info, launchType, initialLovelace: first, image };
      const prepared = await trading.prepareLaunch(request);
      const bought = first === 0n ? 'without a first buy' : `with a buy of ${formatAda(first)}`;
      return { prepared, what: `Launches ${quoted(info.name)} (${info.ticker}) ${bought}` };
    }),
    signing(open, 'walletLock', 'Lock tokens and sign it', LOCK, async (trading, given) => {
      const assetId = assetOf(given.assetId);
      if (assetId instanceof Failure) return assetId;
      const { lockEnd: lockEndMs, stages = 1 } = given;
      const amount = BigInt(given.amount);
      const prepared = await trading.prepareLock({ assetId, amount, lockEndMs, stages });
      const until = new Date(lockEndMs).toISOString();
      const what = `Locks ${text(assetId, amount)} until ${until}, in ${stages} stage(s)`;
      return { prepared, what };
    }),
    signing(open, 'walletCancel', 'Take an open order back', REF, async (trading, { id }) => {
      return { prepared: await trading.prepareCancel(id), what: `Takes the order ${id} back` };
    }),
    signing(open, 'walletWithdraw', 'Take an open lock back', REF, async (trading, { id }) => {
      return { prepared: await trading.prepareWithdraw(id), what: `Takes the lock ${id} back` };
    }),
    signing(open, 'walletTransfer', 'Send ADA', TRANSFER, async (trading, { to, lovelace }) => {
      const amount = BigInt(lovelace);
      const prepared = await trading.prepareTransfer({ to, lovelace: amount, assets: new Map() });
      return { prepared, what: `Sends ${formatAda(amount)} to ${to}` };
    }),
  ];
}

interface Proposal {
  readonly prepared: Pick<PreparedTx<unknown>, 'review' | 'submit'>;
  /** One line, made from the tool's arguments; the check has compared the bytes with it. */
  readonly what: string;
}

function signing<const Shape extends TObject>(
  open: Open,
  name: string,
  description: string,
  shape: Shape,
  propose: (trading: TradingClient, given: Static<Shape>) => Promise<Proposal | Failure>,
): OwnTool {
  const check = checkOf(shape);
  const known = Object.keys(shape.properties);
  return {
    tool: {
      name,
      description: `${description}, after the user of this program has said yes.`,
      inputSchema: { ...JSON.parse(JSON.stringify(shape)), additionalProperties: false },
      annotations: { readOnlyHint: false, destructiveHint: true },
    },
    call(given, ask) {
      return withWallet(open, async (trading) => {
        const unknown = Object.keys(given).find((each) => !known.includes(each));
        if (unknown !== undefined) {
          const message = `${name} has no such argument; it takes ${known.join(', ')}`;
          return invalid(`arguments.${unknown}`, message);
        }
        const read = check(given, 'arguments');
        if (read instanceof Failure) return read;
        // trust: the line above has checked it against the shape
        const proposal = await propose(trading, read.value as Static<Shape>);
        if (proposal instanceof Failure) return proposal;
        return signed(trading, proposal, ask);
      });
    },
  };
}

async function signed(
  { wallet }: TradingClient,
  { prepared, what }: Proposal,
  ask: Ask,
): Promise<Called | Failure> {
  const { txHash, feeLovelace, payments, change } = prepared.review;
  const lines = [
    `${what}?`,
    `Wallet ${wallet.address}`,
    ...payments.map(({ address, value }) => `Output of ${valueText(value)} to ${address}`),
    `Comes back: ${valueText(change)}`,
    `Network fee ${formatAda(feeLovelace)}`,
    `Transaction ${txHash}`,
  ];
  const answer = await ask(lines.join('\n'));
  if (answer instanceof Failure) return answer;
  if (!answer) return new Failure('FORBIDDEN', 'the user said no: nothing was signed');
  return said(await prepared.submit());
}

async function balance(trading: TradingClient): Promise<Called> {
  const { lovelace, assets } = balanceOf(await trading.utxos());
  const held = Object.fromEntries([...assets].map(([asset, amount]) => [asset, String(amount)]));
  return said({ address: trading.wallet.address, lovelace, assets: held });
}

async function withWallet(
  open: Open,
  run: (trading: TradingClient) => Promise<Called | Failure>,
): Promise<Called | Failure> {
  const trading = open();
  if (trading instanceof Failure) return trading;
  try {
    return await run(trading);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { cause, message, reason } = error;
    return new Failure(isCause(cause) ? cause : 'UNKNOWN', `${cause}: ${message}`, {
      ...(reason === null ? {} : { reason }),
    });
  }
}

function isCause(cause: string): cause is Cause {
  return Object.hasOwn(CATALOGUE, cause);
}

function said(facts: SubmittedTx | object): Called {
  const text = JSON.stringify(facts, (_name, value) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  return { isError: false, text };
}

function assetOf(given: string): AssetId | Failure {
  const asset = parseAsset(given);
  if (asset !== null && asset !== COIN) return asset;
  return invalidField('arguments.assetId', 'must be the id of a token, <56 hex policy>.<hex name>');
}

/** Names in ids are written by strangers, so the id stands here and no name. */
function text(asset: string, amount: string | bigint): string {
  return asset === COIN ? formatAda(BigInt(amount)) : `${amount} of ${asset}`;
}

function valueText({ lovelace, assets }: Value): string {
  return [formatAda(lovelace), ...[...assets].map(([asset, n]) => text(asset, n))].join(', ');
}

function quoted(name: string): string {
  return JSON.stringify(name);
}
