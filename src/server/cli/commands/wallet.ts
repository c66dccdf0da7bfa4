/** The commands `wallet`, `launch`, `lock` and `withdraw`. */
import { parseAda } from '../../../client/trade/ada.ts';
import {
  FAUCET_ADA,
  MAX_FAUCET_ADA,
  MAX_NAME_CHARACTERS,
  MAX_STAGES,
  MAX_TICKER_CHARACTERS,
  TICKER,
} from '../../../engine/runtime/limits.ts';
import { parseDurationMs, parseMomentMs, parseNumber, parseTokens } from '../amounts.ts';
import { textOf } from '../command.ts';
import { ID } from './orders.ts';
import { parseToken, type SocialName, walletCommand } from './walletCommand.ts';

/** More than the least that an output holds, in whole ADA. */
const MIN_FAUCET_ADA = 2;
const SOCIALS: readonly SocialName[] = ['twitter', 'discord', 'telegram', 'website'];

export const WALLET = walletCommand({
  name: 'wallet',
  uses: [
    ['new', 'make a key file; an existing one is never written over'],
    ['faucet [ADA]', `coins of a devnet (default ${FAUCET_ADA})`],
    ['balance', 'what the wallet holds'],
  ],
  options: {},
  takes: 2,
  parse([action, ada]) {
    if (action === 'faucet') {
      const amount = ada === undefined ? FAUCET_ADA : Number(/^\d{1,5}$/.test(ada) ? ada : 0);
      if (amount < MIN_FAUCET_ADA || amount > MAX_FAUCET_ADA) {
        return `wallet faucet takes whole ADA from ${MIN_FAUCET_ADA} to ${MAX_FAUCET_ADA}`;
      }
      return { name: 'wallet faucet', ada: amount };
    }
    if (ada !== undefined) return `unexpected argument: ${ada}`;
    if (action === 'new') return { name: 'wallet new' };
    if (action === 'balance') return { name: 'wallet balance' };
    return 'wallet takes new, balance or faucet';
  },
});

export const LAUNCH = walletCommand({
  name: 'launch',
  uses: [['--name N --ticker T', 'a new token']],
  options: {
    name: { value: 'NAME', about: `up to ${MAX_NAME_CHARACTERS} characters` },
    ticker: { value: 'TICKER', about: `up to ${MAX_TICKER_CHARACTERS} letters and digits` },
    initial: { value: 'ADA', about: 'buy the first tokens in the same transaction' },
    description: { value: 'TEXT', about: 'what it is about' },
    image: { value: 'FILE', about: 'PNG, JPEG or GIF (default: one made from the name)' },
    hyped: { about: 'the hyped curve' },
    ai: { about: 'list it as AI' },
    twitter: { value: 'URL', about: 'a link, as the next three' },
    discord: { value: 'URL', about: '' },
    telegram: { value: 'URL', about: '' },
    website: { value: 'URL', about: '' },
  },
  parse(_rest, values) {
    const tokenName = textOf(values.name)?.trim() ?? '';
    const ticker = textOf(values.ticker) ?? '';
    if ([...tokenName].length < 1 || [...tokenName].length > MAX_NAME_CHARACTERS) {
      return `launch needs --name of 1 to ${MAX_NAME_CHARACTERS} characters`;
    }
    if (!TICKER.test(ticker)) {
      return `launch needs --ticker of 1 to ${MAX_TICKER_CHARACTERS} letters and digits`;
    }
    const initialLovelace = parseAda(textOf(values.initial) ?? '0');
    if (initialLovelace === null) return '--initial takes ADA with at most 6 decimals';
    const socials = SOCIALS.flatMap((name) => {
      const url = textOf(values[name]);
      return url === null ? [] : [[name, url]];
    });
    return {
      name: 'launch',
      tokenName,
      ticker,
      description: textOf(values.description) ?? '',
      imageFile: textOf(values.image),
      initialLovelace,
      isHyped: values.hyped === true,
      isAi: values.ai === true,
      socials: Object.fromEntries(socials),
    };
  },
});

export const LOCK = walletCommand({
  name: 'lock',
  uses: [['TOKEN N', 'lock so many in vesting']],
  options: {
    for: { value: '90s', about: 'how long: 90s, 30m, 2h, 7d' },
    until: { value: 'MOMENT', about: 'or until when: 2030-01-31T12:00Z' },
    stages: { value: 'N', about: 'unlock in so many equal steps (default 1)' },
  },
  takes: 2,
  parse([named, amount], values) {
    const token = parseToken('lock', named);
    if (typeof token === 'string') return token;
    const tokens = parseTokens(amount ?? '');
    if (tokens === null) return 'lock takes a whole number of tokens above 0';
    const [duration, moment] = [textOf(values.for), textOf(values.until)];
    if ((duration === null) === (moment === null)) {
      return 'lock takes either --for 30m or --until 2030-01-31T12:00Z';
    }
    const forMs = duration === null ? null : parseDurationMs(duration);
    if (duration !== null && (forMs === null || forMs === 0)) {
      return '--for takes a duration such as 90s, 30m, 2h or 7d';
    }
    const untilMs = moment === null ? null : parseMomentMs(moment);
    if (moment !== null && untilMs === null)
      return '--until takes a moment such as 2030-01-31T12:00Z';
    const stages = parseNumber(textOf(values.stages) ?? '1') ?? 0;
    if (!Number.isInteger(stages) || stages < 1 || stages > MAX_STAGES) {
      return `--stages takes a whole number from 1 to ${MAX_STAGES}`;
    }
    return { name: 'lock', token, tokens, forMs, untilMs, stages };
  },
});

export const WITHDRAW = walletCommand({
  name: 'withdraw',
  uses: [['[LOCK]', 'take an open lock back; without an id, list them']],
  options: {},
  takes: 1,
  parse([id]) {
    if (id === undefined) return { name: 'withdraw', id: null };
    if (!ID.test(id)) return 'withdraw takes the id of a lock, <tx>:<index>';
    return { name: 'withdraw', id: id.toLowerCase() };
  },
});
