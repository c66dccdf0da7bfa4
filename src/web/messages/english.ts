/** English, and with it the shape of every other language. */
import { ALERTS } from './alerts.ts';
import { SHELL, WORDS } from './shell.ts';
import { TOKEN } from './token.ts';
import { LAUNCH, LOCK, LOGO, SIGN, TRADE } from './trade.ts';
import { LOCKS, NOTICES, ORDERS, PORTFOLIO, WALLET } from './wallet.ts';

const SHORT: Readonly<Record<string, string>> = {
  change5m: '5m',
  change1h: '1h',
  change24h: '24h',
  marketCap: 'Cap',
  volume24h: 'Vol',
  traders24h: 'Traders',
  createdOn: 'Age',
};

const MEANINGS: Readonly<Record<string, string>> = {
  price: 'ADA for one token',
  change5m: 'Change of the price in 5 minutes',
  change1h: 'Change of the price in an hour',
  change24h: 'Change of the price in 24 hours',
  volume24h: 'ADA traded in 24 hours',
  marketCap: 'Price times supply',
  liquidity: 'ADA in the pool, and tokens of the same worth',
  traders24h: 'Wallets that traded in 24 hours',
  createdOn: 'Since the launch',
  progress: 'How much of the curve is bought: at 100 % the token moves to the AMM',
};

export const ENGLISH = {
  home: {
    title: 'Markets',
    lists: 'Lists',
    tabs: {
      trending: 'Trending',
      new: 'New',
      graduating: 'About to graduate',
      graduated: 'Graduated',
      watchlist: 'Watchlist',
    },
    empty: {
      trending: 'Nothing was traded yet.',
      new: 'Nothing was launched yet.',
      graduating: 'No token is on its curve.',
      graduated: 'No token has graduated yet.',
      watchlist: 'You watch no token yet.',
    },
    noMatch: 'No token is within these bounds.',
    howToWatch: 'Press the star of a token to find it here again. The list stays in this browser.',
    howToBegin:
      'A token starts with its launch: a name, a picture, and a curve that sets the price.',
    launch: 'Launch a token',
    replayed:
      'This server replays trades of a feed: it has charts and no trading. Choose a token below, ' +
      'or search for the asset id of one.',
    watch: 'Watch',
    watchOne: (name: string) => `Watch ${name}`,
    token: 'Token',
    columns: {
      price: 'Price',
      change5m: '5m',
      change1h: '1h',
      change24h: '24h',
      volume24h: 'Volume',
      marketCap: 'Market cap',
      liquidity: 'Liquidity',
      traders24h: 'Traders',
      createdOn: 'Age',
      progress: 'Curve',
    },
    /** Of the headings, on hover. */
    meanings: MEANINGS,
    day: '24 hours',
    graduated: 'Graduated',
    /** Before a number, on phones. */
    short: SHORT,
    filters: 'Filters',
    bounds: {
      minMarketCap: 'Market cap from, ADA',
      maxMarketCap: 'Market cap to, ADA',
      minVolume: 'Volume of 24 hours from, ADA',
      minAgeHours: 'Older than, hours',
      maxAgeHours: 'Younger than, hours',
    },
    side: 'Traded on',
    sides: { '': 'All', false: 'Curve', true: 'AMM' },
    noFilters: 'Show all',
    orderKept: 'order is kept under the pointer',
    loading: 'Loading tokens',
    counted: (shown: number, all: number) => `${shown} of ${all} tokens`,
    more: 'Show more',
    best: {
      top: 'Top of the market',
      gainer: 'Up most in 5 minutes',
      newest: 'Newest launch',
    },
    bestIs: (what: string, name: string) => `${what}: ${name}`,
    noBest: {
      top: 'No token yet.',
      gainer: 'Nothing has risen.',
      newest: 'No token yet.',
    },
    tape: 'Newest trades',
  },
  chart: {
    interval: 'Interval of a bar',
    intervals: {
      min1: ['1m', '1 minute'],
      min3: ['3m', '3 minutes'],
      min5: ['5m', '5 minutes'],
      min15: ['15m', '15 minutes'],
      min30: ['30m', '30 minutes'],
      hour1: ['1h', '1 hour'],
      hour2: ['2h', '2 hours'],
      hour4: ['4h', '4 hours'],
      hour12: ['12h', '12 hours'],
      day1: ['1D', '1 day'],
      week1: ['1W', '1 week'],
      month1: ['1M', '1 month'],
    },
    kind: 'What is drawn',
    price: ['Price', 'Price in ADA for one token'],
    mcap: ['MCap', 'Market cap in ADA'],
    style: 'How bars are drawn',
    candles: 'Candles',
    line: 'Line',
    area: 'Area',
    scale: 'Scale',
    normal: ['Lin', 'Linear scale'],
    log: ['Log', 'Logarithmic scale'],
    percent: ['%', 'Percent of the first bar in view'],
    indicators: 'Indicators',
    ma: 'Moving average (20)',
    ema: 'Exponential average (20)',
    bollinger: 'Bollinger bands (20, 2)',
    vwap: 'Volume weighted price of the day',
    rsi: 'Relative strength (14)',
    volume: 'Vol',
    trades: 'Trades',
    open: 'open',
    loading: 'Loading…',
    none: 'No trades yet.',
    canvas: 'Candlesticks',
    described: (bars: number, close: string) =>
      `Candlesticks: ${bars} bars, last close ${close} ADA`,
    graduation: 'Graduation',
    bought: (tokens: string) => `Bought ${tokens}`,
    sold: (tokens: string) => `Sold ${tokens}`,
    keys: 'Arrows move it, + and − zoom, Home shows all, End the newest bar.',
    replayed: 'Replayed trades against ADA, in the time of the feed.',
  },
  missing: {
    title: 'No such token',
    explained:
      'This is no asset id: one is the policy in 56 hexadecimal digits, a point, and the name in ' +
      'hexadecimal digits. Search for the token by name. ',
    home: 'To the market',
  },
  link: {
    word: 'Link',
    copy: 'Copy a link to this token',
    copied: 'Link copied.',
  },
  words: WORDS,
  shell: SHELL,
  token: TOKEN,
  header: {
    volume: 'Volume',
    trades: 'Trades',
  },
  trade: TRADE,
  sign: SIGN,
  lock: LOCK,
  logo: LOGO,
  launch: LAUNCH,
  wallet: WALLET,
  portfolio: PORTFOLIO,
  orders: ORDERS,
  locks: LOCKS,
  notices: NOTICES,
  alerts: ALERTS,
  about: {
    title: 'About',
    none: 'No description.',
    launched: 'Launched',
    kind: 'Kind',
    hyped: (kind: string) => `${kind}, hyped`,
    author: 'Author',
    unknownAuthor: 'unknown',
  },
};

export type Messages = typeof ENGLISH;
