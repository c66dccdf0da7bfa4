/** English, and with it the shape of every other language. */
import { TOKEN } from './trading.ts';

const SHORT: Readonly<Record<string, string>> = {
  marketCap: 'Cap',
  volume: 'Vol',
  createdOn: 'Age',
};

export const ENGLISH = {
  home: {
    title: 'Markets',
    lists: 'Lists',
    tabs: {
      trending: 'Latest trades',
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
    chartsOnly: 'Charts only.',
    noChain:
      'This server has no chain, and so no launches to list. Search for the asset id of a token ' +
      'whose trades were replayed: its chart is here.',
    watch: 'Watch',
    watchOne: (name: string) => `Watch ${name}`,
    token: 'Token',
    columns: {
      price: 'Price',
      marketCap: 'Market cap',
      liquidity: 'Liquidity',
      volume: 'Volume',
      trades: 'Trades',
      progress: 'Curve',
      createdOn: 'Age',
      lastTradeTime: 'Last trade',
    },
    /** Before a number, on phones. */
    short: SHORT,
    filters: 'Filters',
    bounds: {
      minMarketCap: 'Market cap from, ADA',
      maxMarketCap: 'Market cap to, ADA',
      minVolume: 'Volume from, ADA',
      maxAgeHours: 'Launched within hours',
    },
    noFilters: 'Show all',
    orderKept: 'order is kept under the pointer',
    loading: 'Loading tokens',
    top: 'Top of the market',
    topIs: (name: string) => `Top of the market: ${name}`,
    noTop: 'No token yet',
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
  token: TOKEN,
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
