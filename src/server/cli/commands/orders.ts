/** The commands `buy`, `sell` and `cancel`. */
import { parseAda } from '../../../client/trade/ada.ts';
import { SLIPPAGES, type Slippage } from '../../../engine/market/order.ts';
import { MAX_WAIT_SECONDS, MIN_WAIT_SECONDS } from '../../../engine/runtime/limits.ts';
import { parseDurationMs, parseTokens } from '../amounts.ts';
import { textOf, type Values } from '../command.ts';
import { parseToken, walletCommand } from './walletCommand.ts';

/** An order or a lock is named by the output that it lies in. */
export const ID = /^[0-9a-fA-F]{64}:\d{1,5}$/;

const TERMS = {
  slippage: { value: '15', about: `percent that the price may fall: ${SLIPPAGES.join(', ')}` },
  'min-output': { value: 'N', about: 'instead: the least you take, in tokens (buy) or ADA (sell)' },
  'wait-for': {
    value: '7d',
    about: 'wait so long for a price that gives --min-output: 10m to 30d',
  },
} as const;

export const BUY = walletCommand({
  name: 'buy',
  uses: [
    ['TOKEN ADA', 'spend so much; TOKEN is an id or a ticker'],
    ['TOKEN --tokens N', 'buy exactly so many'],
  ],
  options: { tokens: { value: 'N', about: 'exactly so many' }, ...TERMS },
  takes: 2,
  parse([named, ada], values) {
    const token = parseToken('buy', named);
    const slippage = parseSlippage(values);
    if (typeof token === 'string') return token;
    if (typeof slippage === 'string') return slippage;
    const wanted = textOf(values.tokens);
    if ((ada === undefined) === (wanted === null)) {
      return 'buy takes either an amount of ADA or --tokens';
    }
    const lovelace = ada === undefined ? null : parseAda(ada);
    if (ada !== undefined && (lovelace === null || lovelace === 0n)) {
      return `${ada} is no amount of ADA (above 0, at most 6 decimals)`;
    }
    const tokens = wanted === null ? null : parseTokens(wanted);
    if (wanted !== null && tokens === null) return '--tokens takes a whole number above 0';
    const least = textOf(values['min-output']);
    const minOutput = least === null ? null : parseTokens(least);
    if (least !== null && minOutput === null) {
      return 'buy --min-output takes a whole number of tokens above 0';
    }
    const wait = parseWaitFor(values);
    if (typeof wait === 'string') return wait;
    return { name: 'buy', token, lovelace, tokens, slippage: slippage.value, minOutput, ...wait };
  },
});

export const SELL = walletCommand({
  name: 'sell',
  uses: [['TOKEN N|all', 'sell so many']],
  options: TERMS,
  takes: 2,
  parse([named, amount], values) {
    const token = parseToken('sell', named);
    const slippage = parseSlippage(values);
    if (typeof token === 'string') return token;
    if (typeof slippage === 'string') return slippage;
    const tokens: bigint | 'all' | null = amount === 'all' ? 'all' : parseTokens(amount ?? '');
    if (tokens === null) return 'sell takes a whole number of tokens above 0, or all';
    const least = textOf(values['min-output']);
    const minOutput = least === null ? null : parseAda(least);
    if (least !== null && (minOutput === null || minOutput === 0n)) {
      return 'sell --min-output takes ADA above 0, with at most 6 decimals';
    }
    const wait = parseWaitFor(values);
    if (typeof wait === 'string') return wait;
    const terms = { token, tokens, slippage: slippage.value, minOutput };
    return { name: 'sell', ...terms, ...wait } as const;
  },
});

export const CANCEL = walletCommand({
  name: 'cancel',
  uses: [['ORDER', 'take an open order back; ORDER is <tx>:<index>']],
  options: {},
  takes: 1,
  parse([id = '']) {
    if (!ID.test(id)) return 'cancel takes the id of an order, <tx>:<index>';
    return { name: 'cancel', id: id.toLowerCase() };
  },
});

function parseSlippage(values: Values<'slippage'>): { value: Slippage } | string {
  const text = textOf(values.slippage) ?? '15';
  const value = SLIPPAGES.find((known) => known === text);
  return value === undefined ? `--slippage takes ${SLIPPAGES.join(', ')}` : { value };
}

/** null: the order is filled at once, or given back when the deployment says. */
function parseWaitFor(
  values: Values<'wait-for' | 'min-output'>,
): { readonly waitForSeconds: number | null } | string {
  const text = textOf(values['wait-for']);
  if (text === null) return { waitForSeconds: null };
  if (textOf(values['min-output']) === null) return '--wait-for needs --min-output: the price';
  const seconds = (parseDurationMs(text) ?? 0) / 1000;
  const isIn = seconds >= MIN_WAIT_SECONDS && seconds <= MAX_WAIT_SECONDS;
  const bounds = `${MIN_WAIT_SECONDS / 60}m to ${MAX_WAIT_SECONDS / 86_400}d`;
  if (!isIn) return `--wait-for takes a duration from ${bounds}`;
  return { waitForSeconds: Math.floor(seconds) };
}
