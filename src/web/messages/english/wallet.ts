/** English of the wallet's page: keys, portfolio, own orders and locks. */
import { text } from '../texts.ts';

export const WALLET = {
  title: 'Wallet',
  connection: 'Connection',
  balance: 'Balance',
  more: { one: 'and # more', other: 'and # more' },
  first: 'Connect a wallet first.',
  changed: 'Another wallet was connected meanwhile. Start again.',
  noChain: 'This server has no chain: there is nothing to trade.',
  nothingToSign: 'This server has no chain: there is nothing to sign.',
  make: 'Make a test wallet',
  connect: 'Connect a wallet',
  test: 'Test wallet',
  testCaution:
    'Its key is stored unprotected in this browser. It is for the coins of this devnet, which ' +
    'are worth nothing: never use such a key anywhere else.',
  useTest: 'Use a test wallet',
  importKey: 'Import a key',
  importCaution:
    'Only a key of this devnet: it is stored unprotected, and every script of this page can read ' +
    'it. Never paste the key of a wallet with real coins, even if you are asked for it.',
  secret: 'Secret key',
  secretHint: '64 hex digits, as a test wallet exports them.',
  importIt: 'Import it',
  ofBrowser: 'Wallet of this browser',
  connectTo: 'Connect {name}',
  noExtension: 'No wallet is installed in this browser. Any that follows CIP-30 will do.',
  devnetCoins: 'Coins of this devnet, worth nothing.',
  get: 'Get {ada} ADA',
  coinsSent: 'Sent; they are yours when a block has them.',
  coinsCame: '{ada} ADA arrived.',
  coinsUnseen: 'Not seen in a block yet.',
  copy: 'Copy',
  copied: 'Copied',
  selectIt: 'Select it',
  copyAddress: 'Copy the address',
  copyKey: 'Copy the secret key',
  disconnect: 'Disconnect',
  keyCaution:
    'A test wallet: its key is stored unprotected in this browser. Never send it real coins.',
  showKey: 'Show the secret key',
  showKeyMeans:
    'A person who sees this key can spend all that the wallet has, now and later. Show it where ' +
    'no other person and no camera looks on, and keep the copy in a safe place.',
  showIt: 'Show it',
  hideKey: 'Hide the secret key',
  notKept: 'It is not kept here any more.',
  forget: 'Forget this wallet',
  forgetTitle: 'Forget the test wallet',
  forgetMeans:
    'Its key is removed from this browser. Without a copy of the key its coins, orders and ' +
    'locks are lost for good.',
  forgetIt: 'Forget it',
  keepIt: 'Keep it',
  others: 'Other wallets of this browser',
  switchTo: 'Use the wallet {address}',
  use: 'Use',
  add: 'Add another test wallet',
} as const;

/** About the keys of test wallets that this browser keeps. */
export const KEYS = {
  tooMany: 'This browser keeps {most} test wallets: forget one of them first.',
  none: 'Paste a secret key.',
  unreadable: 'A secret key has 64 hex digits (0 to 9, a to f).',
  noStorage: 'This browser keeps nothing for this page: {why}',
} as const;

export const EXTENSION = {
  noApi: 'The wallet agreed, but gave nothing to ask.',
  noNetwork: 'The wallet does not say on which network it is.',
  noOutputs: 'The wallet gave no list of outputs.',
  unreadable: {
    address: 'The wallet gave no readable address.',
    balance: 'The wallet gave no readable balance.',
    output: 'The wallet gave no readable output.',
    signature: 'The wallet gave no readable signature.',
  },
  cannot: 'The wallet cannot do {method}.',
  noAnswer: 'The wallet did not answer {method}. Reload the page.',
  declined: 'You declined in the wallet.',
  accountChanged: 'The wallet changed its account: connect it again.',
  noKey: 'The wallet has no key for this transaction.',
  refused: 'The wallet refused.',
  /** Follows any of the four texts before it. `words`: the wallet's own message. */
  said: 'It says: {words}',
  failed: 'The wallet failed: {words}',
  noOwnKey: '{name} has an address without a key: it cannot trade here.',
  /** `here`: the network of this server. */
  onTestnet: text(
    '{name} is on a test network, this server is on {here}. Switch the wallet to mainnet, then ',
    'connect it again.',
  ),
  onMainnet: text(
    '{name} is on mainnet, this server is on {here}. Switch the wallet to a test network, then ',
    'connect it again.',
  ),
} as const;

export const PORTFOLIO = {
  title: 'Portfolio',
  allWallets: { one: 'All # wallets', other: 'All # wallets' },
  total: 'Total',
  totalOf: 'ADA in the wallet and the value of its tokens, without open orders and locks.',
  ada: 'ADA',
  value: 'Value of tokens',
  realized: 'Realized',
  unrealized: 'Unrealized',
  gain: 'Gain',
  spent: 'Spent',
  none: 'No token yet. What you buy is listed here, with what it costs and is worth.',
  overTime: 'Profit and loss over time',
  span: 'Span',
  spans: { day: '24h', month: '30d', all: 'All' },
  point: '{when}: {gain}',
  noHistory: 'No line yet: it takes two points in this span.',
  tokens: 'Tokens',
  picture: {
    title: 'Your profit and loss as a picture',
    gain: 'Profit and loss',
    failed: 'This browser does not draw pictures.',
  },
  columns: {
    token: 'Token',
    balance: 'Balance',
    value: 'Value',
    average: 'Avg. price',
    price: 'Price',
    realized: 'Realized',
    unrealized: 'Unrealized',
    gain: 'Gain',
  },
} as const;

/** Pictures to share. */
export const PICTURE = {
  share: 'Share as a picture',
  save: 'Save the picture',
  send: 'Share it',
  ofToken: '{name} as a picture',
  ofGain: 'Profit and loss of {name} as a picture',
  notDrawn: 'The server drew no picture (status {status}). Try again.',
} as const;

export const ORDERS = {
  way: 'Steps of the order',
  blocks: { one: '# block passed', other: '# blocks passed' },
  open: 'Open orders',
  history: 'History',
  asFile: 'Save as CSV',
  saved: { one: '# order saved.', other: '# orders saved.' },
  noFile: 'The server did not give the history (status {status}). Try again.',
  none: {
    all: 'You have no orders here yet.',
    open: 'You have no open orders.',
    ended: 'No order of yours has ended yet.',
  },
  loading: 'Your orders are being loaded.',
  problem: 'Your orders: {why}',
  ended: 'ended {when}',
  executedAt: 'at {price} · executor fee {fee}',
  executedMeans: '{price} ADA a token, trading fee included. Network fees are not counted.',
  atLeast: '{offered} → at least {least}',
  soFar: '{offered} → {got} so far',
  explained: '{meaning} Placed {placed}.',
  explainedUntil: '{meaning} Placed {placed}. Expires {until}.',
  cancel: 'Cancel',
  cancelOne: 'Cancel: {side} {terms}',
  cancelBuy: 'Cancel this buy',
  cancelSell: 'Cancel this sell',
  cancelMeans: '{terms}: what it offers comes back to your wallet.',
  cancelWords: 'Your order is given back to you.',
  signCancel: 'Sign and cancel the order',
  keep: 'Keep the order',
  cancelSent: 'The cancel was sent. It counts when a block has it.',
} as const;

export const LOCKS = {
  own: 'Locks',
  none: 'You have no locks. Tokens are locked on the page of their token.',
  opensIn: 'opens in {left}',
  open: 'open',
  withdraw: 'Withdraw',
  withdrawOne: 'Withdraw {amount} {ticker}',
  title: 'Withdraw {ticker}',
  words: 'The lock is yours again.',
  sign: 'Sign and withdraw',
  sent: 'Sent. The tokens are yours when a block has it.',
  monthBefore: 'The month before',
  monthAfter: 'The next month',
  opensOn: { one: '{day}: # lock opens', other: '{day}: # locks open' },
} as const;

/** States of an order: the name of each on the page, and its meaning. */
export const STATES = {
  MempoolPending: {
    name: 'Placing',
    meaning: 'Sent, and waiting for a block to take it in. Until then it may still vanish.',
  },
  Pending: {
    name: 'Open',
    meaning: 'On the chain. It is filled when the price allows it, in the order of arrival.',
  },
  MempoolEvaluated: {
    name: 'Filling',
    meaning: 'Its fill was sent and waits for a block. A rollback can still undo that.',
  },
  Evaluated: { name: 'Filled', meaning: 'Filled: the tokens or coins were paid out.' },
  MempoolRefunded: {
    name: 'Returning',
    meaning: 'It is being given back: that was sent and waits for a block.',
  },
  Refunded: {
    name: 'Returned',
    meaning: 'Ended without a trade; what it offered went back to its owner.',
  },
  Dropped: {
    name: 'Dropped',
    meaning: 'Its transaction never came into a block: nothing was spent.',
  },
  cancelled: { name: 'Cancelled', meaning: 'Cancelled by its owner; what it offered went back.' },
  expired: {
    name: 'Expired',
    meaning: 'Not filled in time; what it offered went back, without the fee for that.',
  },
} as const;

/** `what`: as `Buy of TICK`. */
export const NOTICES = {
  buyOf: 'Buy of {ticker}',
  sellOf: 'Sell of {ticker}',
  transaction: 'Transaction',
  txCopied: 'Transaction id copied.',
  txOfTrade: 'Transaction of the trade',
  txPlaced: 'Transaction that placed the order',
  txEnded: 'Transaction that ended the order',
  MempoolPending: '{what} for {offered}: sent, waiting for a block.',
  Pending: '{what} for {offered}: open on the chain.',
  MempoolEvaluated: '{what}: its fill waits for a block.',
  Evaluated: '{what}: filled. {offered} → {gets}.',
  MempoolRefunded: '{what}: on its way back to you.',
  Refunded: '{what}: ended, {offered} came back.',
  Dropped: '{what}: it never came into a block. Nothing was spent; place it again.',
} as const;
