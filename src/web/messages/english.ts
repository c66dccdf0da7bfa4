/** English, and with it the shape of every other language. */
import type { Column } from '../home/market.ts';
import { AMOUNTS, LAUNCH, LOCK, LOGO, SIGN, TOKEN, TRADE } from './english/trade.ts';
import {
  EXTENSION,
  KEYS,
  LOCKS,
  NOTICES,
  ORDERS,
  PICTURE,
  PORTFOLIO,
  STATES,
  WALLET,
} from './english/wallet.ts';
import { text } from './texts.ts';

const SHORT: Readonly<Partial<Record<Column, string>>> = {
  change5m: '5m',
  change1h: '1h',
  change24h: '24h',
  marketCap: 'Cap',
  volume24h: 'Vol',
  traders24h: 'Traders',
  createdOn: 'Age',
  holders: 'Holders',
  top10Percent: 'Top 10',
  authorPercent: 'Author',
  snipersPercent: 'Snipers',
};

const MEANINGS: Readonly<Record<Column | 'change6h', string>> = {
  price: 'ADA for one token',
  change5m: 'Change of the price in 5 minutes',
  change1h: 'Change of the price in an hour',
  change6h: 'Change of the price in 6 hours',
  change24h: 'Change of the price in 24 hours',
  volume24h: 'ADA traded in 24 hours',
  marketCap: 'Price times supply',
  liquidity: 'Value of both sides of the pool',
  traders24h: 'Wallets that traded in 24 hours',
  createdOn: 'Since the launch',
  holders: 'Keys that hold tokens',
  top10Percent: 'What the ten largest holders have of the supply outside the pool',
  authorPercent: 'What the author has of the supply outside the pool',
  snipersPercent:
    'What keys that bought in the three blocks after the launch have of the supply outside the ' +
    'pool',
  progress: 'Progress along the bonding curve: at 100 % the token graduates to an AMM pool',
};

/**
 * The text of an error, by cause. `{words}` is the sentence of the API or the client, which is
 * English and exact; another language says it in its own words.
 */
const BY_CAUSE = {
  UNREACHABLE: 'The server cannot be reached. Try again in a moment.',
  TIMEOUT: 'The server did not answer in time. Try again in a moment.',
  STOPPED: '{words}',
  BAD_ANSWER: '{words}',
  RATE_LIMITED: '{words}',
  NOT_READY: '{words}',
  OVERLOADED: '{words}',
  SERVER_ERROR: '{words}',
  LOCK_NOT_EXPIRED: '{words}',
  ORDER_NOT_FOUND: '{words}',
} as const;

const ERRORS = {
  byCause: BY_CAUSE,
  /** Shows the server's English text in another language. */
  said: '{words}',
} as const;

const WORDS = {
  back: 'Back',
  /** After a number, in columns. */
  units: { d: 'd', h: 'h', min: 'min', s: 's' },
  ago: '{age} ago',
} as const;

const SHELL = {
  skip: 'Skip to the content',
  home: 'upcurve, home',
  main: 'Main',
  places: { markets: 'Markets', launch: 'Launch', wallet: 'Wallet' },
  titles: {
    home: 'Markets',
    token: 'Token',
    missing: 'No such token',
    nowhere: 'No such page',
    wallet: 'Wallet',
    launch: 'Launch',
  },
  toTheme: { dark: 'Switch to dark', light: 'Switch to light', system: 'Follow the system' },
  toAda: 'Show prices in ADA',
  // In parts, because `${` looks like a template's.
  toDollars: text('Show prices in US dollars: 1 ADA is $', '{dollars}'),
  language: 'Language',
  api: 'API',
  notices: 'Notices',
  dismiss: 'Dismiss',
  search: 'Search tokens',
  searchBy: 'Search name, ticker, asset id',
  keyTitle: 'Keys',
  keyClose: 'Close',
  /** In the order of the keys. */
  keyList: [
    'Search',
    'Next and previous row',
    'Buy, sell',
    'Amounts of the form',
    'Review, and again to sign',
    'This list',
  ],
  tokensFound: 'Tokens found',
  found: { one: '# token found', other: '# tokens found' },
  noneFound: 'No token with this in its name or id.',
  openId: 'Open',
  live: 'Live',
  silentFor: 'No message for {seconds} s',
  connecting: 'Connecting…',
  closed: 'Disconnected: {why}',
  reconnecting: 'Reconnecting in {seconds} s',
  connected: 'Connected',
  notConnected: 'Not connected: the page is out of date',
  showing: 'showing the market',
  asOf: 'as of {time}',
  tryNow: 'Try now',
  notLoaded: 'This part of the page could not be loaded.',
  loadAgain: 'Load the page again',
  outage: 'The server does not answer.',
  outageAge: 'What you see was true {age} ago.',
  nextTry: 'Next try in {seconds} s.',
  tip: 'tip {ago}',
  recorded: 'Recorded history; live since {time}',
  recordedMore:
    'What happened before was recorded from simulated traders, so that a new devnet is not empty.',
  silent: 'source silent',
  waits: 'Nothing can be submitted now: this server waits for something that it needs.',
  waitsFor: 'It continues by itself ({codes}). What you see may be old.',
  syncing: 'syncing',
  unknown: 'unknown',
  longAgo: 'long ago',
  replay: 'replay',
  resynced: {
    slow: 'Resynced: this page was too slow to read everything; all is loaded again.',
    epoch: 'Resynced: the market has a new log; all is loaded again.',
    horizon: 'Resynced: this page was away for too long; all is loaded again.',
    loss: 'Resynced: something was missed on the way; all is loaded again.',
    checksum: 'Resynced: something did not fit; all is loaded again.',
  },
} as const;

const ALERTS = {
  title: 'Price alert',
  set: 'Price alert for {ticker}',
  confirm: 'Set the alert',
  by: 'Alert by',
  ways: { price: 'Price', cap: 'Market cap', percent: 'Percent' },
  when: 'When it is',
  directions: { above: 'At or above', below: 'At or below' },
  moves: { above: 'Up by', below: 'Down by' },
  amounts: { price: 'Price of a token', cap: 'Market cap', percent: 'Percent from the price now' },
  now: 'Now {price} ADA, market cap {cap}.',
  isThere: 'The price is there already: choose another one.',
  hint:
    'It is only watched while this page is open in a tab: once that is closed, you hear nothing. ' +
    'The alert stays in this browser.',
  noPrice: 'Enter a number above 0, as 0.0000123; a fall has less than 100 percent.',
  isSet: 'The alert is set. You are notified while this page is open.',
  isSetHere: 'The alert is set. It is said on this page: the browser may not notify you.',
  list: 'All alerts',
  remove: 'Remove',
  removeOne: 'Remove the alert at {price} ADA',
  reached: {
    above: '{ticker} is at or above {price} ADA: it is at {now}.',
    below: '{ticker} is at or below {price} ADA: it is at {now}.',
  },
} as const;

/** Texts about the trust data of a token. */
const TRUST = {
  base: 'Shares of the supply outside the pool.',
  badgesBase: 'Badges: shares of the supply outside the pool.',
  badges: {
    author: 'Author',
    snipers: 'Snipers',
    top10: 'Top 10',
  },
} as const;

export const ENGLISH = {
  /** In which one reads. */
  direction: 'ltr',
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
      trending: 'No trades yet.',
      new: 'No launches yet.',
      graduating: 'No token is on its bonding curve.',
      graduated: 'No token has graduated yet.',
      watchlist: 'Your watchlist is empty.',
    },
    noMatch: 'No token matches these filters.',
    howToWatch: 'Star a token to find it here. The list stays in this browser.',
    howToBegin:
      'A token starts with its launch: a name, a picture, and a curve that sets the price.',
    launch: 'Launch a token',
    replayed:
      'This server replays trades of a feed: it has charts and no trading. Choose a token below, ' +
      'or search for the asset id of one.',
    watch: 'Watch',
    watchOne: 'Watch {name}',
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
      holders: 'Holders',
      top10Percent: 'Top 10',
      authorPercent: 'Author',
      snipersPercent: 'Snipers',
      progress: 'Bonded',
    },
    /** Tooltips of the headings. */
    meanings: MEANINGS,
    /** Tooltip of a change. */
    sinceLaunch: '{percent} % since the launch',
    day: '24 hours',
    graduated: 'Graduated',
    /** Before a number, on phones. */
    short: SHORT,
    filters: 'Filters',
    chosenColumns: 'Columns',
    bounds: {
      minMarketCap: 'Min. market cap, ADA',
      maxMarketCap: 'Max. market cap, ADA',
      minVolume: 'Min. 24h volume, ADA',
      minAgeHours: 'Min. age, hours',
      maxAgeHours: 'Max. age, hours',
      minHolders: 'Min. holders',
      maxTop10Percent: 'Max. top 10, %',
      maxAuthorPercent: 'Max. author, %',
      maxSnipersPercent: 'Max. snipers, %',
    },
    side: 'Traded on',
    sides: { '': 'All', false: 'Curve', true: 'AMM' },
    noFilters: 'Clear filters',
    orderKept: 'order is paused under the pointer',
    loading: 'Loading tokens',
    /** Label of a part of a longer list. */
    first: 'first {shown} tokens',
    counted: { one: '{shown} of # token', other: '{shown} of # tokens' },
    more: 'Show more',
    view: 'View',
    views: { table: 'As a table', board: 'In three columns' },
    traders: { one: '# trader', other: '# traders' },
    best: {
      top: 'Top by market cap',
      change5m: 'Top gainer, 5m',
      change1h: 'Top gainer, 1h',
      change6h: 'Top gainer, 6h',
      change24h: 'Top gainer, 24h',
      newest: 'Newest launch',
    },
    launching: 'Launching now',
    waitsForBlock: 'waits for its block',
    noBest: { token: 'No token yet.', other: 'No other token yet.', gain: 'Nothing has risen.' },
    tape: 'Newest trades',
  },
  chart: {
    interval: 'Interval of a bar',
    eachTrade: ['Trades', 'Every trade, a point each'],
    /** The price or market cap after a trade. */
    after: 'After',
    more: 'More',
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
    view: 'View',
    indicators: 'Indicators',
    ma: 'Moving average',
    ma2: 'Second moving average',
    ema: 'Exponential average',
    ema2: 'Second exponential average',
    bollinger: 'Bollinger bands',
    vwap: 'Volume weighted price of the day',
    rsi: 'Relative strength',
    lengthOf: '{indicator}: bars',
    lengthLimits: 'How many bars: {least} to {most}',
    full: 'Full screen',
    notFull: 'Leave full screen',
    zone: 'Time zone of the chart',
    utc: 'UTC{offset}',
    volume: 'Vol',
    trades: 'Trades',
    open: 'open',
    loading: 'Loading…',
    none: 'No trades yet.',
    /** Values of a bar: open, high, low, close. */
    sides: ['O', 'H', 'L', 'C'],
    olderBars: 'Older bars: {why}',
    canvas: 'Candlesticks',
    described: 'Candlesticks: {bars} bars, last close {close} ADA',
    graduation: 'Graduation',
    bought: 'Bought {tokens}',
    sold: 'Sold {tokens}',
    keys: 'Arrows move it, + and − zoom, Home shows all, End the newest bar.',
    replayed: 'Replayed trades against ADA, in the time of the feed.',
  },
  missing: {
    title: { token: 'No such token', page: 'No such page' },
    explained: {
      token:
        'This is no asset id: one is the policy in 56 hexadecimal digits, a point, and the name ' +
        'in hexadecimal digits. Search for the token by name.',
      page: 'Nothing is at this address. Search for a token, or go to the market.',
    },
    home: 'To the market',
  },
  link: {
    word: 'Link',
    copy: 'Copy a link to this token',
    copied: 'Link copied.',
  },
  words: WORDS,
  errors: ERRORS,
  shell: SHELL,
  token: TOKEN,
  trust: TRUST,
  header: {
    volume: 'Volume 24h',
    /** Tooltip of the price. */
    price: 'ADA for one token in the pool now. The chart ends with the price of the last trade.',
  },
  amounts: AMOUNTS,
  trade: TRADE,
  sign: SIGN,
  lock: LOCK,
  logo: LOGO,
  launch: LAUNCH,
  wallet: WALLET,
  keys: KEYS,
  extension: EXTENSION,
  portfolio: PORTFOLIO,
  picture: PICTURE,
  orders: ORDERS,
  states: STATES,
  locks: LOCKS,
  notices: NOTICES,
  alerts: ALERTS,
  about: {
    title: 'About',
    none: 'No description.',
    launched: 'Launched',
    unknownBefore: 'slot {slot}: earlier history is not known here',
    kind: 'Kind',
    hyped: '{kind}, hyped',
    author: 'Author',
    unknownAuthor: 'unknown',
    socials: { website: 'Website', twitter: 'X', telegram: 'Telegram', discord: 'Discord' },
  },
} as const;

export type Messages = typeof ENGLISH;
