/** The commands of a wallet: wallet, launch, buy, sell, cancel, lock and withdraw. */
import { readFileSync } from 'node:fs';
import { ApiError, Client, type Fetch } from '../../client/index.ts';
import { formatAda } from '../../client/trade/ada.ts';
import { boundOf, hundredthsOf, type OrderBound } from '../../client/trade/bound.ts';
import { pictureOf } from '../../client/trade/picture.ts';
import { type Settlement, settlementOf } from '../../client/trade/settlement.ts';
import {
  type OrderRequest,
  type PlacedOrder,
  TradingClient,
} from '../../client/trade/tradingClient.ts';
import { balanceOf, type WalletUtxo } from '../../client/trade/utxo.ts';
import type { LockRow, QuoteAnswer } from '../../client/types.ts';
import { type AssetId, COIN } from '../../engine/market/asset.ts';
import { formatRatio } from '../../engine/market/decimal.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { Json } from '../../engine/runtime/json.ts';
import {
  assetOf,
  type CommandContext,
  DONE,
  FAILED,
  type Facts,
  formatSeconds,
  MISUSED,
  pollWallet,
  waitForBlock,
  waitUntilListed,
  waitUntilLocked,
} from './commandContext.ts';
import type { LaunchAction, LockAction, WalletAction, WalletCommand } from './walletArguments.ts';
import { createWallet, openWallet } from './walletFile.ts';

interface WalletCommandDeps {
  readonly clock: Clock;
  readonly fetch: Fetch;
  /** Ends all waiting. */
  readonly signal?: AbortSignal;
  /** `say` prints a line of the result, `complain` one about a problem. */
  say(line: string): void;
  complain(line: string): void;
  readonly confirm: CommandContext['confirm'];
}

/** A busy server names the time after which it is asked again. */
const MAX_ATTEMPTS = 4;
const NEVER = new AbortController().signal;

/**
 * Runs a wallet command: opens the key file, asks a running server, signs one transaction.
 * Exit code: 0 done, 1 refused or unreachable, 2 no usable wallet or file.
 */
export async function runWalletCommand(
  { action, client }: WalletCommand,
  deps: WalletCommandDeps,
): Promise<number> {
  if (!client.json) return runAction(action, client, deps);
  let told: Record<string, Json> = {};
  const code = await runAction(action, client, {
    ...deps,
    confirm: null,
    say: (_line, facts) => {
      told = { ...told, ...facts };
    },
    complain: (message) => {
      told = { ...told, error: message };
    },
  });
  deps.say(JSON.stringify(told));
  return code;
}

interface ActionDeps extends WalletCommandDeps {
  say(line: string, facts?: Facts): void;
}

async function runAction(
  action: WalletAction,
  options: WalletCommand['client'],
  world: ActionDeps,
): Promise<number> {
  if (action.name === 'wallet new') return newWallet(options.walletFile, world);
  const opened = openWallet(options.walletFile);
  if (typeof opened === 'string') {
    world.complain(opened);
    return MISUSED;
  }
  if (opened.warning !== null) world.complain(opened.warning);
  const { clock, fetch, signal = NEVER, say, complain, confirm } = world;
  const client = new Client({ url: options.url, fetch, clock, maxAttempts: MAX_ATTEMPTS });
  const stop = () => client.close();
  signal.addEventListener('abort', stop);
  const trading = new TradingClient(client, opened.wallet);
  try {
    const { wait } = options;
    return await perform({ trading, clock, signal, wait, say, complain, confirm }, action);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const reason = error.reason === null ? '' : ` (${error.reason})`;
    complain(`${action.name}: ${error.cause}${reason}: ${error.message}`);
    return FAILED;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function newWallet(file: string, world: ActionDeps): number {
  const wallet = createWallet(file);
  if (typeof wallet === 'string') {
    world.complain(wallet);
    return FAILED;
  }
  world.say(`Wrote ${file}: keep it secret, it controls the coins.`);
  world.say(`Address ${wallet.address}`, { file, address: wallet.address });
  return DONE;
}

function perform(
  context: CommandContext,
  action: Exclude<WalletAction, { readonly name: 'wallet new' }>,
): Promise<number> {
  switch (action.name) {
    case 'wallet balance':
      return balance(context);
    case 'wallet faucet':
      return faucet(context, action.ada);
    case 'launch':
      return launch(context, action);
    case 'buy':
      return buy(context, action);
    case 'sell':
      return sell(context, action);
    case 'cancel':
      return cancel(context, action);
    case 'lock':
      return lock(context, action);
    case 'withdraw':
      return withdraw(context, action.id);
  }
}

async function balance(context: CommandContext): Promise<number> {
  const { wallet } = context.trading;
  const utxos = await context.trading.utxos();
  const { lovelace, assets } = balanceOf(utxos);
  context.say(`Address ${wallet.address}`, { address: wallet.address });
  context.say(`${formatAda(lovelace)} in ${utxos.length} outputs`, {
    lovelace: String(lovelace),
    outputs: utxos.length,
    assets: Object.fromEntries([...assets].map(([asset, amount]) => [asset, String(amount)])),
  });
  for (const [asset, amount] of assets) context.say(`${amountText(asset, amount)}  ${asset}`);
  return DONE;
}

async function faucet(context: CommandContext, ada: number): Promise<number> {
  const { client, wallet } = context.trading;
  const { address } = wallet;
  const { txHash } = (await client.devnet.faucet({ address, ada })).data;
  context.say(`${ada} ADA are on their way to ${address}`, { address, ada });
  context.say(`Transaction ${txHash}`, { txHash });
  return waitForBlock(context, txHash);
}

async function launch(context: CommandContext, action: LaunchAction): Promise<number> {
  const image = imageOf(action);
  if (typeof image === 'string') {
    context.complain(image);
    return MISUSED;
  }
  const { tokenName, ticker, description, initialLovelace, isHyped, isAi, socials } = action;
  const launched = await context.trading.launch({
    ...socials,
    name: tokenName,
    ticker,
    description,
    assetType: isAi ? 'AI' : 'Meme',
    launchType: isHyped ? 'HYPED' : 'DEFAULT',
    initialLovelace,
    image,
  });
  const first =
    initialLovelace === 0n
      ? 'no initial buy'
      : `an initial buy of ${formatAda(initialLovelace)} for ${launched.userTokens} tokens`;
  const fee = formatAda(launched.feeLovelace);
  context.say(`Signed: launch ${tokenName} (${ticker}) with ${first}; network fee ${fee}`);
  const { asset, logoCid, txHash, userTokens, feeLovelace } = launched;
  const amounts = { tokens: String(userTokens), feeLovelace: String(feeLovelace) };
  context.say(`Token ${asset}`, { asset, ...amounts });
  context.say(`Logo ${logoCid}`, { logoCid });
  context.say(`Transaction ${txHash}`, { txHash });
  const settled = await waitForBlock(context, launched.txHash);
  // The wallet may show the block a moment before the market has applied it.
  return settled === DONE && context.wait ? waitUntilListed(context, launched.asset) : settled;
}

const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
};

function imageOf({ imageFile, tokenName, ticker }: LaunchAction): Blob | string {
  if (imageFile === null) return new Blob([pictureOf(tokenName + ticker)], { type: 'image/png' });
  const type = TYPES[imageFile.split('.').at(-1)?.toLowerCase() ?? ''];
  if (type === undefined) return '--image takes a file that ends in .png, .jpg or .gif';
  try {
    return new Blob([readFileSync(imageFile)], { type });
  } catch (error) {
    return `${imageFile} cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function lock(context: CommandContext, action: LockAction): Promise<number> {
  const { tokens, stages, forMs, untilMs } = action;
  const asset = await assetOf(context, action.token);
  if (asset === null) return FAILED;
  const { data: time } = await context.trading.client.server.time();
  const lockEndMs = untilMs ?? time.timestamp + (forMs ?? 0);
  const done = await context.trading.lock({ assetId: asset, amount: tokens, lockEndMs, stages });
  const parts = stages === 1 ? '' : ` in ${stages} stages`;
  context.say(
    `Signed: lock ${amountText(asset, tokens)}${parts} until ${isoTime(lockEndMs)}; ` +
      `network fee ${formatAda(done.feeLovelace)}`,
    { asset, tokens: String(tokens), stages, lockEndMs },
  );
  sayTransaction(context, done);
  const settled = await waitForBlock(context, done.txHash);
  if (settled !== DONE || !context.wait) return settled;
  await waitUntilLocked(context, done.txHash);
  return listLocks(context);
}

async function withdraw(context: CommandContext, id: string | null): Promise<number> {
  if (id === null) return listLocks(context);
  const done = await context.trading.withdraw(id);
  context.say(`Signed: take lock ${id} back; network fee ${formatAda(done.feeLovelace)}`);
  sayTransaction(context, done);
  return waitForBlock(context, done.txHash);
}

function sayTransaction(
  { say }: CommandContext,
  { txHash, feeLovelace }: { readonly txHash: string; readonly feeLovelace: bigint },
): void {
  say(`Transaction ${txHash}`, { txHash, feeLovelace: String(feeLovelace) });
}

async function listLocks(context: CommandContext): Promise<number> {
  const locks = await context.trading.locks();
  if (locks.length === 0) context.say('No locks.', { locks: [] });
  for (const row of locks) {
    context.say(lockLine(row, context.clock.nowMs()), {
      locks: locks.map((lock) => ({ ...lock })),
    });
  }
  return DONE;
}

function lockLine(row: LockRow, nowMs: number): string {
  const asset = `${row.tokenPolicyId}.${row.tokenAssetName}`;
  const untilMs = Number(row.lockUntil);
  const state = untilMs <= nowMs ? 'open since' : 'until';
  const held = amountText(asset, BigInt(row.totalLocked));
  return `Lock ${row.id}  ${held}  ${state} ${isoTime(untilMs)}`;
}

const LAST_DATE_MS = 8_640_000_000_000_000;

function isoTime(timeMs: number): string {
  // The lock's maker chose the number, which need not be a date.
  return timeMs <= LAST_DATE_MS ? new Date(timeMs).toISOString() : 'the end of time';
}

const LOVELACE_PER_ADA = 1_000_000n;

type Act<Name> = Extract<WalletAction, { readonly name: Name }>;

async function buy(context: CommandContext, action: Act<'buy'>): Promise<number> {
  const { lovelace, tokens } = action;
  const assetId = await assetOf(context, action.token);
  if (assetId === null) return FAILED;
  const terms = { assetId, ...boundsOf(action) };
  if (tokens !== null) return trade(context, { ...terms, side: 'BUY_WITH_OUTPUT', amount: tokens });
  return trade(context, { ...terms, side: 'BUY', amount: lovelace ?? 0n });
}

async function sell(context: CommandContext, action: Act<'sell'>): Promise<number> {
  const { token, tokens } = action;
  const assetId = await assetOf(context, token);
  if (assetId === null) return FAILED;
  const { assets } = balanceOf(await context.trading.utxos());
  const amount = tokens === 'all' ? (assets.get(assetId) ?? 0n) : tokens;
  if (amount === 0n) {
    context.complain(`The wallet holds nothing of ${assetId}.`);
    return FAILED;
  }
  return trade(context, { assetId, ...boundsOf(action), side: 'SELL', amount });
}

function boundsOf({ slippage, minOutput, waitForSeconds }: Act<'buy'> | Act<'sell'>) {
  return {
    slippage,
    ...(minOutput === null ? {} : { minOutput }),
    ...(waitForSeconds === null ? {} : { waitFor: waitForSeconds }),
  };
}

async function cancel(context: CommandContext, { id }: Act<'cancel'>): Promise<number> {
  const done = await context.trading.cancel(id);
  context.say(`Signed: take order ${id} back; network fee ${formatAda(done.feeLovelace)}`);
  sayTransaction(context, done);
  return waitForBlock(context, done.txHash);
}

async function trade(context: CommandContext, request: OrderRequest): Promise<number> {
  const { trading, say } = context;
  const before = await trading.utxos();
  const sent = await placed(context, request);
  if (sent === null) return FAILED;
  const { quote, order } = sent;
  say(signedLine(order));
  const { txHash, id, beacon, feeLovelace } = order;
  say(`Transaction ${txHash}`, { txHash, feeLovelace: String(feeLovelace) });
  say(`Order ${id}, beacon ${beacon}`, {
    ...{ order: id, beacon, input: order.input, output: order.output },
    inputAmount: String(order.inputAmount),
    minimumOutput: String(order.minimumOutput),
  });
  if (!context.wait) return DONE;
  if (order.minimumOutput > BigInt(quote.outputAmount)) return waitsForPrice(context, order);
  return untilSettled(context, order, before);
}

/**
 * Places an order bound to the quote that was shown. Where the pool moved beyond it, another quote
 * is shown and asked about; a limit that was given is not. null: nothing was signed.
 */
async function placed(
  context: CommandContext,
  request: OrderRequest,
): Promise<{ readonly quote: QuoteAnswer; readonly order: PlacedOrder } | null> {
  const { trading, say, complain, confirm } = context;
  const { side, amount, slippage, minOutput } = request;
  const isOpen = side === 'BUY_WITH_OUTPUT' && slippage === 'infinity';
  for (let mustAsk = isOpen; ; mustAsk = true) {
    const quote = await trading.quote(request);
    const found = boundOf(side, amount, quote, hundredthsOf(slippage));
    const bound = { ...found, minOutput: minOutput ?? found.minOutput };
    say(quoteLine(request, quote, bound));
    if (mustAsk && confirm === null) {
      complain('Nothing was signed: at any price a person confirms the most that it may cost.');
      return null;
    }
    if (mustAsk && (await confirm?.('Sign an order with this bound?')) !== true) {
      complain('Nothing was signed.');
      return null;
    }
    const bounds = { minOutput: bound.minOutput, maxInputLovelace: bound.maxInput };
    try {
      return { quote, order: await trading.order({ ...request, ...bounds }) };
    } catch (error) {
      const isMoved = error instanceof ApiError && error.cause === 'PRICE_MOVED';
      if (!isMoved || confirm === null || minOutput !== undefined) throw error;
      complain(error.message);
    }
  }
}

async function waitsForPrice(context: CommandContext, { id, txHash }: PlacedOrder) {
  const settled = await waitForBlock(context, txHash);
  if (settled === DONE) context.say(`It waits for its price. To take it back: cancel ${id}`);
  return settled;
}

async function untilSettled(
  context: CommandContext,
  placed: PlacedOrder,
  before: readonly WalletUtxo[],
): Promise<number> {
  const startMs = context.clock.monotonicMs();
  const found = await pollWallet(context, (now) => settlementOf(placed, before, now));
  if (found === null) {
    context.complain(`Not filled yet. Take it back with: npm start -- cancel ${placed.id}`);
    return FAILED;
  }
  const after = formatSeconds(context.clock.monotonicMs() - startMs);
  context.say(settledLine(placed, found, after), {
    ...{ outcome: found.outcome, settledBy: found.txHash },
    ...{ lovelaceReceived: String(found.lovelace), tokensReceived: String(found.tokens) },
  });
  return found.outcome === 'filled' ? DONE : FAILED;
}

function quoteLine(
  { side, slippage, minOutput: limit }: OrderRequest,
  quote: QuoteAnswer,
  { minOutput, maxInput }: OrderBound,
): string {
  const { numerator, denominator } = quote.price;
  const price = formatRatio(BigInt(numerator), BigInt(denominator) * LOVELACE_PER_ADA);
  const input = amountText(quote.inputAsset, BigInt(quote.inputAmount));
  const output = amountText(quote.outputAsset, BigInt(quote.outputAmount));
  const venue = quote.venue === 'AMM' ? ' on the AMM' : ' on the curve';
  const least = `at least ${amountText(quote.outputAsset, minOutput)}`;
  const most = side === 'BUY_WITH_OUTPUT' ? ` for at most ${formatAda(maxInput)}` : '';
  const allowed = slippage === 'infinity' ? 'any price' : `${slippage} % worse at most`;
  const why = limit === undefined ? ` (${allowed})` : '';
  const terms = `${price} ADA a token, fees of the trade included; ${least}${most}${why}`;
  return `Quote: ${input} for ${output}${venue}, ${terms}`;
}

function signedLine(placed: PlacedOrder): string {
  const offered = placed.input === COIN ? placed.inputAmount : 0n;
  const onTop = placed.orderLovelace - offered;
  const input = amountText(placed.input, placed.inputAmount);
  const least = amountText(placed.output, placed.minimumOutput);
  return (
    `Signed: an order of ${input} for at least ${least}; with it go ${formatAda(onTop)} ` +
    `(executor fee and the deposit that comes back); network fee ${formatAda(placed.feeLovelace)}`
  );
}

function settledLine(placed: PlacedOrder, settled: Settlement, after: string): string {
  const { outcome, txHash, lovelace, tokens } = settled;
  const token = placed.input === COIN ? placed.output : placed.input;
  const parts = [...(tokens === 0n ? [] : [amountText(token, tokens)]), formatAda(lovelace)];
  const received = parts.join(' and ');
  const what = outcome === 'filled' ? 'Filled' : 'Not filled, but refunded';
  return `${what} after ${after} by ${txHash}: received ${received}`;
}

function amountText(asset: AssetId, amount: bigint): string {
  if (asset === COIN) return formatAda(amount);
  const name = Buffer.from(asset.split('.')[1] ?? '', 'hex').toString('utf8');
  const printable = /^[\p{L}\p{N}\p{P}\p{S} ]{1,32}$/u.test(name) ? name : 'tokens';
  return `${amount} ${printable}`;
}
