/** English of the token's page. */
export const TOKEN = {
  loading: 'Loading the token',
  chart: 'Chart',
  curve: 'curve',
  amm: 'AMM',
  copyId: 'Copy the asset id',
  copied: 'Asset id copied.',
  unknown: 'This token is not known here, yet.',
  unknownWhy: 'If it was launched a moment ago, it appears here with the next block.',
  toMarket: 'To the market',
  graduation: 'Graduation',
  onTheCurve:
    'At 100% the curve closes and the token graduates: all its coins and the tokens that are ' +
    'left move into an AMM pool, which trades on at the same price. Open orders are filled there.',
  full:
    'The curve is full. Its coins and tokens are on their way into the AMM pool; until that is ' +
    'in a block, orders stay open.',
  graduated: 'This token has graduated: it is traded in an AMM pool. The curve is closed for good.',
  ammHolds: (coins: string) => `AMM pool with ${coins}`,
  filled: (coins: string, cap: string) => `${coins} of ${cap}`,
  missing: (coins: string) => `${coins} to go until it graduates.`,
  pressure: 'Buys and sells',
  buys: (count: number) => (count === 1 ? '1 buy' : `${count} buys`),
  sells: (count: number) => (count === 1 ? '1 sell' : `${count} sells`),
  traders: (count: number) => (count === 1 ? '1 trader in 24h' : `${count} traders in 24h`),
  book: 'Open orders by price',
  bookCounts: (asks: number, bids: number) => `${asks} ask, ${bids} bid`,
  worstPrice: 'Worst price',
  tokens: 'Tokens',
  noSells: 'no open sells',
  noBuys: 'no open buys',
  poolPrice: (price: string) => `Pool ${price}`,
  adaEach: (price: string) => `${price} ADA a token`,
  holders: 'Holders',
  moreHolders: 'More holders',
  largestOf: (listed: string, all: string) => `The largest ${listed} of ${all}`,
  distribution: 'Who has how much of the supply',
  onCurve: 'Curve',
  inAmm: 'AMM pool',
  tokensOnCurve: 'Tokens still on the curve',
  tokensInAmm: 'Tokens in the AMM pool',
  poolMark: 'pool',
  authorMark: 'author',
  tokensOf: (who: string, tokens: string) => `${who}: ${tokens} tokens`,
  parts: { author: 'Author', top: 'Top 10', locked: 'Locked', others: 'Others' },
  locks: 'Locks',
  noLocks: 'Nothing of this token is locked.',
  lockedTokens: (tokens: string) => `${tokens} tokens`,
  unlocked: 'may be withdrawn',
  until: (when: string) => `until ${when}`,
  insights: 'Before you buy',
  cautions: (count: number) =>
    count === 0 ? 'nothing unusual' : count === 1 ? '1 caution' : `${count} cautions`,
  caution: 'Caution',
  fine: 'Fine',
  flags: {
    shares: { top10: 'Top 10 have', topHolder: 'Largest has', author: 'Author has' },
    outside: 'Of all tokens that have left the pool.',
    authorSold: 'Author has sold',
    authorSoldMeans: 'Whether a sell of the author’s key was filled.',
    sold: (tokens: string) => `${tokens} tokens`,
    no: 'no',
    bundled: 'Bought with the launch',
    bundledMeans:
      'Keys other than the author’s that bought in the block of the launch, and what these buys ' +
      'brought of all tokens that have left the pool.',
    none: 'no other key',
    bundle: (keys: number, percent: string) =>
      `${keys === 1 ? '1 key' : `${keys} keys`}, ${percent}%`,
  },
  sides: { all: 'All', buy: 'Buys', sell: 'Sells' },
  sideOf: (what: string) => `${what}: side`,
  sizeOf: (what: string) => `${what}: size`,
  anySize: 'Any size',
  mine: 'Mine',
  trades: 'Trades',
  tradesNewestFirst: 'Trades, newest first',
  tradeColumns: ['Price', 'Tokens', 'Value', 'Age'],
  olderTrades: 'Older trades',
  newest: (count: number) => `The newest ${count}`,
  noTrades: 'No trades yet.',
  buyAt: 'Buy at',
  sellAt: 'Sell at',
  tradeTitle: (price: string, when: string, key: string | null) =>
    `${price} ADA a token, ${when}${key === null ? '' : `, key ${key}`}`,
  orders: 'Orders',
  ordersNewestFirst: 'Orders, newest first',
  orderColumns: {
    side: 'Side',
    offers: 'Offers',
    gets: 'Gets',
    worst: 'At worst',
    state: 'State',
    age: 'Age',
  },
  olderOrders: 'Older orders',
  ordersShown: (of: { readonly shown: string; readonly all: string; readonly waiting: number }) =>
    `${of.shown} of ${of.all}${of.waiting === 0 ? '' : ` · ${of.waiting} waiting`}`,
  noOrders: 'No orders yet.',
  buy: 'Buy',
  sell: 'Sell',
  anyPrice: 'any',
  orderExplained: (of: {
    readonly meaning: string;
    readonly placed: string;
    readonly ended: string | null;
    readonly order: string;
    readonly pkh: string;
  }) =>
    `${of.meaning} Placed ${of.placed}.${of.ended === null ? '' : ` Ended ${of.ended}.`} ` +
    `Order ${of.order} of key ${of.pkh}.`,
};
