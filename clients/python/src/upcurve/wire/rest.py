"""Queries, bodies and answers over HTTP.

Made from the documents of the server by scripts/writeWireTypes.ts: not edited by hand.
"""

from __future__ import annotations

from decimal import Decimal

from typing import Any, Literal, TYPE_CHECKING, TypedDict

from .shapes import (
    ApiOrder,
    AssetInfo,
    BookLevel,
    Insights,
    ItemError,
    LimitLevel,
    LiquidityPoolInfo,
    OrderPage,
    OrderTrades,
    Ticker,
    TradeRow,
    TradingMetrics,
)

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class ChartHistoryQuery(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    base: str
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    quote: str
    start: int
    end: int
    #: UTC; weeks start Monday 00:00, months on the 1st.
    resolution: Literal["min1", "min3", "min5", "min15", "min30", "hour1", "hour2", "hour4", "hour12", "day1", "week1", "month1"]
    fill: NotRequired[Literal["none", "previous"]]
    limit: NotRequired[int]
    #: The epoch of `X-Position`. With it the answer may be kept for ever where nothing can change
    #: it any more; in another epoch it is 409.
    epoch: NotRequired[str]
    #: `trade` (default): prices of the trades. `spot`: the spot price before and after each
    #: trade, so that the bars of a chart connect.
    price: NotRequired[Literal["trade", "spot"]]


class ChartHistoryAnswerRowPair(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    base: str
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    quote: str


class ChartHistoryAnswerRow(TypedDict):
    pair: ChartHistoryAnswerRowPair
    #: Start of the interval, Unix seconds.
    time: int
    #: Exact decimal, at most 18 fractional digits.
    low: str
    #: Exact decimal, at most 18 fractional digits.
    high: str
    #: Exact decimal, at most 18 fractional digits.
    open: str
    #: Exact decimal, at most 18 fractional digits.
    close: str
    trades: int
    #: Market time has passed the end of the interval.
    final: bool
    #: In the quote asset.
    volume: str
    #: In the base asset.
    baseVolume: str


ChartHistoryAnswer = list[ChartHistoryAnswerRow]


class ChartInitialStateQuery(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    base: str
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    quote: str
    #: UTC; weeks start Monday 00:00, months on the 1st.
    resolution: Literal["min1", "min3", "min5", "min15", "min30", "hour1", "hour2", "hour4", "hour12", "day1", "week1", "month1"]
    #: `trade` (default): prices of the trades. `spot`: the spot price before and after each
    #: trade, so that the bars of a chart connect.
    price: NotRequired[Literal["trade", "spot"]]


class ChartInitialStateAnswer(TypedDict):
    bar: ChartHistoryAnswerRow
    isRelevant: bool


ChartLastQuery = ChartInitialStateQuery

ChartLastAnswer = ChartHistoryAnswerRow


class McapHistoryQuery(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    base: str
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    quote: str
    start: int
    end: int
    #: UTC; weeks start Monday 00:00, months on the 1st.
    resolution: Literal["min1", "min3", "min5", "min15", "min30", "hour1", "hour2", "hour4", "hour12", "day1", "week1", "month1"]
    fill: NotRequired[Literal["none", "previous"]]
    limit: NotRequired[int]
    #: The epoch of `X-Position`. With it the answer may be kept for ever where nothing can change
    #: it any more; in another epoch it is 409.
    epoch: NotRequired[str]


class McapHistoryAnswerRow(TypedDict):
    pair: ChartHistoryAnswerRowPair
    #: Start of the interval, Unix seconds.
    time: int
    #: Exact decimal, at most 18 fractional digits.
    low: str
    #: Exact decimal, at most 18 fractional digits.
    high: str
    #: Exact decimal, at most 18 fractional digits.
    open: str
    #: Exact decimal, at most 18 fractional digits.
    close: str
    trades: int
    #: Market time has passed the end of the interval.
    final: bool
    #: In ADA: spot price after the last trade × supply; = close.
    mCap: str
    #: The interval contains market time.
    isRelevant: bool


McapHistoryAnswer = list[McapHistoryAnswerRow]


class McapInitialStateQuery(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    base: str
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    quote: str
    #: UTC; weeks start Monday 00:00, months on the 1st.
    resolution: Literal["min1", "min3", "min5", "min15", "min30", "hour1", "hour2", "hour4", "hour12", "day1", "week1", "month1"]


class McapInitialStateAnswer(TypedDict):
    bar: McapHistoryAnswerRow
    isRelevant: bool


ChartBulkBodyRow = TypedDict(
    "ChartBulkBodyRow",
    {
        #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
        "base": "str",
        #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
        "quote": "str",
        #: UTC; weeks start Monday 00:00, months on the 1st.
        "resolution": "Literal['min1', 'min3', 'min5', 'min15', 'min30', 'hour1', 'hour2', 'hour4', 'hour12', 'day1', 'week1', 'month1']",
        "from": "int",
        "to": "int",
        #: Most bars in the answer, the newest; default 400.
        "limit": "NotRequired[int]",
        "fill": "NotRequired[Literal['none', 'previous']]",
        #: Prices (default), or market caps in ADA.
        "kind": "NotRequired[Literal['price', 'mcap']]",
        #: `trade` (default): prices of the trades. `spot`: the spot price before and after each
        #: trade, so that the bars of a chart connect. Market caps have no `spot`.
        "price": "NotRequired[Literal['trade', 'spot']]",
    },
)

#: 1 to 50 spans; the sum of their limits is 20000 at most.
ChartBulkBody = list[ChartBulkBodyRow]


class ChartBulkAnswerRow(TypedDict):
    #: Oldest first.
    bars: list[ChartHistoryAnswerRow | McapHistoryAnswerRow]
    #: Older ones were cut: ask again with it as `to`.
    nextTo: NotRequired[int]


ChartBulkAnswer = list[ChartBulkAnswerRow | ItemError]


class PoolListQuery(TypedDict):
    #: New: by launch. Latest: by last trade. MCapDesc: not graduated, by market cap.
    #: CompletedCreateOn, CompletedMCap: graduated, by launch and by market cap. Trending: by
    #: volume in 24 hours, graduated included, ties by market cap.
    filter: Literal["New", "Latest", "CompletedCreateOn", "CompletedMCap", "MCapDesc", "Trending"]


PoolListAnswer = list[LiquidityPoolInfo]

TopPoolAnswer = LiquidityPoolInfo


class SearchPoolsQuery(TypedDict):
    #: Search text: more than space, at most 128 code points, no backslash.
    pattern: str
    offset: NotRequired[int]
    limit: NotRequired[int]


class SearchPoolsAnswer(TypedDict):
    #: How many there are, on this page or not.
    count: int
    items: list[LiquidityPoolInfo]


class FollowingQuery(TypedDict):
    offset: NotRequired[int]
    limit: NotRequired[int]


#: Asset ids of tokens.
FollowingBody = list[str]

FollowingAnswer = SearchPoolsAnswer

#: Asset ids of tokens.
FollowingListBody = list[str]

FollowingListAnswer = SearchPoolsAnswer


class PoolQuery(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    asset: str


PoolAnswer = LiquidityPoolInfo

CurveProgressQuery = PoolQuery


class CurveProgressAnswer(TypedDict):
    #: Percent of the cap, cut to 2 decimals.
    percent: str


AssetInfoQuery = PoolQuery

AssetInfoAnswer = AssetInfo


class HoldersQuery(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    assetId: str
    limit: NotRequired[int]
    #: Rows to skip.
    offset: NotRequired[int]


class HoldersAnswerHoldersRow(TypedDict):
    #: bech32
    address: str
    #: Integer.
    quantity: str


class HoldersAnswer(TypedDict):
    holders: list[HoldersAnswerHoldersRow]
    #: Tokens of all addresses with the author’s payment key.
    dev: HoldersAnswerHoldersRow
    #: Number of all holders, the same on every page.
    count: int


class TradingMetricsQuery(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    asset: str
    #: Payment key hash, 56 hex digits.
    pkh: str


TradingMetricsAnswer = TradingMetrics | None


class PnlCardQuery(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    assetId: str


#: Payment key hashes; a repeated hash counts once.
PnlCardBody = list[str]


class PnlCardAnswerRow(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    asset: str
    #: Gain / invested × 100, a half rounded to the even one.
    pnlPercent: str
    #: ADA.
    investedAda: str
    #: ADA: realized and unrealized.
    currentAdaGain: str


PnlCardAnswer = PnlCardAnswerRow | None

AssetBalanceQuery = PnlCardQuery

#: Payment key hashes; a repeated hash counts once.
AssetBalanceBody = list[str]


class AssetBalanceAnswerRow(TypedDict):
    #: ADA: confirmed tokens × spot price.
    balance: int | Decimal


AssetBalanceAnswer = AssetBalanceAnswerRow | None

TokenInsightsQuery = PoolQuery

TokenInsightsAnswer = Insights


class TokenTradersQuery(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    asset: str
    #: The largest first; `volume` is spent and received ADA together. Ties: key.
    sort: NotRequired[Literal["realized", "unrealized", "volume"]]
    limit: NotRequired[int]


class TokenTradersAnswerRow(TypedDict):
    #: Payment key hash, 56 hex digits.
    pkh: str
    buys: int
    sells: int
    #: ADA.
    spentAda: str
    #: ADA.
    receivedAda: str
    #: Confirmed tokens at all addresses with this key, however they came.
    balance: str
    #: ADA.
    realizedPnlAda: str
    #: ADA.
    unrealizedPnlAda: str


TokenTradersAnswer = list[TokenTradersAnswerRow]

PortfolioQuery = FollowingQuery

#: Payment key hashes; a repeated hash counts once.
PortfolioBody = list[str]


class PortfolioAnswerTokensRow(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    asset: str
    name: str
    ticker: str
    logoCID: str
    #: Spot, ADA per token.
    price: str
    #: Confirmed tokens, however they came.
    balance: str
    #: balance × price.
    valueAda: str
    buyCount: int
    sellCount: int
    #: Integer.
    boughtTokens: str
    #: Integer.
    soldTokens: str
    #: ADA per token; "0" where there was none.
    averageBuyPrice: str
    #: ADA per token; "0" where there was none.
    averageSellPrice: str
    #: ADA.
    spentAda: str
    #: ADA.
    receivedAda: str
    #: ADA.
    realizedPnlAda: str
    #: ADA.
    unrealizedPnlAda: str
    #: Realized and unrealized / spent × 100; null where nothing was spent.
    pnlPercent: str | None
    #: Unix seconds; null without a trade.
    firstTradeTime: int | None
    #: Unix seconds; null without a trade.
    lastTradeTime: int | None


class PortfolioAnswerOpenOrdersLedger(TypedDict):
    #: Number of orders on all pages, within `from` and `to`.
    count: int
    #: On the chain, newest first.
    items: list[ApiOrder]


class PortfolioAnswerOpenOrders(TypedDict):
    ledger: PortfolioAnswerOpenOrdersLedger
    #: Every order that is in no block yet, newest first.
    mempool: list[ApiOrder]


class PortfolioAnswerLocksRow(TypedDict):
    #: `<tx>:<index>`
    id: str
    #: Unix milliseconds.
    lockUntil: str
    #: Payment key hash, 56 hex digits.
    redeemerVkh: str
    tokenPolicyId: str
    #: Hex.
    tokenAssetName: str
    #: Integer.
    totalLocked: str
    #: bech32
    vestingOwnerAddress: str
    spent: Literal[False]


class PortfolioAnswer(TypedDict):
    #: Value of all tokens, without the wallets’ ADA.
    valueAda: str
    #: ADA.
    spentAda: str
    #: ADA.
    receivedAda: str
    #: ADA.
    realizedPnlAda: str
    #: ADA.
    unrealizedPnlAda: str
    #: Realized and unrealized / spent × 100; null where nothing was spent.
    pnlPercent: str | None
    #: Number of all tokens, the same on every page.
    count: int
    #: Held, or traded once. The most valuable first; ties by asset id.
    tokens: list[PortfolioAnswerTokensRow]
    #: The newest 100 orders that have not ended, and every order in the mempool.
    openOrders: PortfolioAnswerOpenOrders
    #: Unspent, by reference.
    locks: list[PortfolioAnswerLocksRow]


class PortfolioHistoryQuery(TypedDict):
    #: Points a minute, 5 minutes, an hour or a day apart, UTC.
    resolution: Literal["min1", "min5", "hour1", "day1"]
    #: Only from this moment on, Unix seconds.
    start: NotRequired[int]
    #: Only before this moment, Unix seconds.
    end: NotRequired[int]
    limit: NotRequired[int]


#: Payment key hashes; a repeated hash counts once.
PortfolioHistoryBody = list[str]


class PortfolioHistoryAnswerRow(TypedDict):
    #: Start of the interval, Unix seconds.
    time: int
    #: At its end: tokens bought and not sold again, at their spot price.
    valueAda: str
    #: Cost of these tokens.
    costAda: str
    #: Since the first trade.
    realizedPnlAda: str
    #: valueAda − costAda.
    unrealizedPnlAda: str
    #: The interval has ended.
    final: bool


PortfolioHistoryAnswer = list[PortfolioHistoryAnswerRow]


class OrderFeedQuery(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    asset: str
    #: Rows to skip.
    offset: NotRequired[int]
    limit: NotRequired[int]
    #: Only rows older than this order (`entityId`), for an exact walk.
    before: NotRequired[str]
    #: Only from this moment on, Unix seconds.
    start: NotRequired[int]
    #: Only before this moment, Unix seconds.
    end: NotRequired[int]


#: Payment key hashes; none, null or [] for everybody.
OrderFeedBody = list[str] | None

OrderFeedAnswer = OrderPage


class UserHistoryQuery(TypedDict):
    #: Rows to skip.
    offset: NotRequired[int]
    limit: NotRequired[int]
    #: Only rows older than this order (`entityId`), for an exact walk.
    before: NotRequired[str]
    #: Only from this moment on, Unix seconds.
    start: NotRequired[int]
    #: Only before this moment, Unix seconds.
    end: NotRequired[int]


#: Payment key hashes.
UserHistoryBody = list[str]

UserHistoryAnswer = OrderPage

UserHistoryByAssetQuery = OrderFeedQuery

#: Payment key hashes.
UserHistoryByAssetBody = list[str]

UserHistoryByAssetAnswer = OrderPage

UserOpenOrdersQuery = UserHistoryQuery

#: Payment key hashes.
UserOpenOrdersBody = list[str]

UserOpenOrdersAnswer = OrderPage


class OrderByBeaconQuery(TypedDict):
    #: Beacon of the order, 56 hex digits.
    beacon: str


OrderByBeaconAnswer = OrderTrades


class OrderBookQuery(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    asset: str
    #: Significant decimal digits of the prices of bids and asks.
    digits: NotRequired[int]
    levels: NotRequired[int]


class OrderBookAnswerLimits(TypedDict):
    #: By worst price, best first. Tokens that are left, or that a buy takes at least.
    buys: list[LimitLevel]
    #: By worst price, best first. Tokens that are left, or that a buy takes at least.
    sells: list[LimitLevel]


class OrderBookAnswerPending(TypedDict):
    buys: int
    sells: int
    #: Integer.
    buyLovelace: str
    #: Integer.
    sellTokens: str


class OrderBookAnswer(TypedDict):
    epoch: str
    seq: int
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    asset: str
    #: The pool's output that this is the depth of.
    pool: str
    #: ADA per token.
    spot: str
    #: Highest price first.
    bids: list[BookLevel]
    #: Lowest price first.
    asks: list[BookLevel]
    #: Open orders in blocks that the pool would not fill now; they may cross.
    limits: OrderBookAnswerLimits
    #: Open orders in blocks that the pool, at this position and alone, would fill: numbers, and
    #: their offers without fee and deposit.
    pending: OrderBookAnswerPending
    #: CRC-32 (IEEE) of `price:amount`, as sent, of the first 10 asks, then the first 10 bids,
    #: joined by `|`: 8 hex digits; of an empty book `00000000`. The frame is applied first.
    checksum: str


class TradesQuery(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    asset: str
    #: Only trades older than this one.
    before: NotRequired[str]
    limit: NotRequired[int]
    #: Only from this moment on, Unix seconds.
    start: NotRequired[int]
    #: Only before this moment, Unix seconds.
    end: NotRequired[int]
    #: Only trades of this payment key.
    pkh: NotRequired[str]
    #: Only buys, or only sells: `buy` or `sell`.
    side: NotRequired[Literal["buy", "sell"]]
    #: Only trades that moved at least this amount: an integer, lovelace.
    minQuote: NotRequired[str]


TradesAnswer = list[TradeRow]


class TickersQuery(TypedDict):
    #: Only these tokens: the parameter repeated, at most 20 times.
    assets: NotRequired[list[str]]
    #: A number of the ticker; `lastTrade` is `lastTradeTime`.
    sort: NotRequired[Literal["price", "marketCap", "change5m", "change1h", "change6h", "change24h", "high24h", "low24h", "volume5m", "volume1h", "volume6h", "volume24h", "buys5m", "buys1h", "buys6h", "buys24h", "sells5m", "sells1h", "sells6h", "sells24h", "traders24h", "liquidity", "progress", "createdOn", "lastTradeTime", "top10Percent", "authorPercent", "snipersPercent", "holders", "lastTrade"]]
    #: null comes last both ways; ties by asset id.
    order: NotRequired[Literal["desc", "asc"]]
    #: Lower bound of the age, in seconds.
    minAge: NotRequired[int]
    #: Upper bound of the age, in seconds.
    maxAge: NotRequired[int]
    #: Lower bound, in ADA.
    minMarketCap: NotRequired[str]
    #: Upper bound, in ADA.
    maxMarketCap: NotRequired[str]
    #: Lower bound, in ADA of 24 hours.
    minVolume24h: NotRequired[str]
    #: Lower bound, in percent.
    minProgress: NotRequired[int | Decimal]
    #: Upper bound, in percent of 2 decimals.
    maxTop10Percent: NotRequired[int | Decimal]
    #: Upper bound, in percent of 2 decimals.
    maxAuthorPercent: NotRequired[int | Decimal]
    #: Upper bound; a token without the value does not match, in percent of 2 decimals.
    maxSnipersPercent: NotRequired[int | Decimal]
    #: Lower bound.
    minHolders: NotRequired[int]
    #: Only those on the AMM, or on the curve.
    graduated: NotRequired[Literal["true", "false"]]
    #: Rows to skip.
    offset: NotRequired[int]
    limit: NotRequired[int]


class TickersAnswer(TypedDict):
    #: How many match, on this page or not.
    count: int
    items: list[Ticker]


#: Asset ids of tokens.
TickersOfAssetsBody = list[str]

TickersOfAssetsAnswer = TickersAnswer


class LocksByOwnerQuery(TypedDict):
    #: Payment key hash, 56 hex digits.
    redeemerVkhs: str


class LocksByOwnerAnswer(TypedDict):
    vestings: list[PortfolioAnswerLocksRow]


LocksByAssetAnswer = LocksByOwnerAnswer


class ServerTimeAnswer(TypedDict):
    #: Wall clock of this node, Unix milliseconds.
    timestamp: int


class LimitsAnswerClassesRead(TypedDict):
    #: Requests that fit into the full bucket.
    limit: int
    #: Requests left in it.
    remaining: int
    #: Seconds until it is full again.
    reset: int


class LimitsAnswerClasses(TypedDict):
    read: LimitsAnswerClassesRead
    build: LimitsAnswerClassesRead
    launch: LimitsAnswerClassesRead


class LimitsAnswerSockets(TypedDict):
    #: Sockets and event streams that may be open.
    limit: int
    #: Open sockets now.
    open: int


class LimitsAnswer(TypedDict):
    #: Name of the API key, or the address (IPv6: the /64).
    caller: str
    #: Each node counts for itself.
    scope: Literal["node"]
    #: Nothing is counted: a call from the same machine, without an API key.
    exempt: bool
    classes: LimitsAnswerClasses
    sockets: LimitsAnswerSockets


class AdaUsdRateAnswer(TypedDict):
    #: US dollars for one ADA.
    rate: str
    #: Unix seconds at which the source told it.
    time: int
    #: The host that told it, or `fixed`.
    source: str
    #: The source has told none for five minutes.
    stale: bool


class OrderBody(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    assetId: str
    #: Lovelace of a BUY; tokens of BUY_WITH_OUTPUT and SELL.
    amount: str
    side: Literal["BUY", "BUY_WITH_OUTPUT", "SELL"]
    #: Percent below the quoted output; `infinity` accepts any output of at least 1.
    slippage: Literal["15", "30", "50", "75", "infinity"]
    minOutput: NotRequired[str | None]
    waitFor: NotRequired[int | None]
    ttl: NotRequired[int | None]
    #: bech32; a base or enterprise key address of this network.
    changeAddress: str
    #: Outputs to spend, each hex CBOR `[input, output]` (CIP-30). Absent: the server looks up the
    #: wallet. Their content is always read from the ledger.
    utxos: NotRequired[Literal["splash-wallet", ""] | list[str] | None]


class OrderAnswerPrice(TypedDict):
    #: Integer.
    numerator: str
    #: Integer.
    denominator: str


class OrderAnswerFees(TypedDict):
    #: Integer.
    percentFee: str
    #: Integer.
    platform: str
    #: Integer.
    creator: str
    #: Integer.
    executorFee: str
    #: Comes back with the fill.
    deposit: str


class OrderAnswer(TypedDict):
    id: str
    #: Hex.
    cbor: str
    #: 56 hex digits; the name of the order.
    beacon: str
    price: OrderAnswerPrice
    #: The pool's newest output, mempool included; the quote is for it.
    pool: str
    priceQuote: Literal["."]
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    priceBase: str
    #: Integer.
    outputAmount: str
    #: Integer.
    inputAmount: str
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    outputAsset: str
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    inputAsset: str
    worstPrice: OrderAnswerPrice
    #: Integer.
    minimumOutput: str
    #: Hash of the script that holds such an order: compare it before you sign.
    orderScript: str
    #: Unix ms from which the order may be refunded. 0: it never is, and its owner may cancel it
    #: at any time.
    expiresAt: int
    #: Unix ms from which no block takes the transaction; null: it has no end.
    validUntil: int | None
    fees: OrderAnswerFees
    venue: Literal["CURVE", "AMM"]
    txHash: str
    #: `<tx>:<index>`
    entityId: str
    #: Integer.
    networkFee: str


class QuoteQuery(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    assetId: str
    #: Lovelace of a BUY; tokens of BUY_WITH_OUTPUT and SELL.
    amount: str
    side: Literal["BUY", "BUY_WITH_OUTPUT", "SELL"]
    #: Percent below the quoted output; `infinity` accepts any output of at least 1.
    slippage: Literal["15", "30", "50", "75", "infinity"]
    #: The least output that the order takes: an integer from 1 to the quoted output, or more with
    #: `waitFor`. It replaces the bound of `slippage`. Compute it from the quote that you show, so
    #: that the order is bound to it: max(1, ⌈output × (100 − slippage) / 100⌉), and `amount` for
    #: BUY_WITH_OUTPUT. Where the pool gives less by now and nothing waits: 409 `PRICE_MOVED`, and
    #: nothing is built.
    minOutput: NotRequired[str]
    #: Seconds that a limit order waits for the pool to give `minOutput`, which may be more than
    #: it gives now; afterwards the order may be refunded. Absent: the deployment’s time. An order
    #: for a pool of Splash waits until it is filled or cancelled.
    waitFor: NotRequired[int]
    #: Seconds for which the transaction may enter a block: 60 to 86400, or 0 for no end. Absent:
    #: 7200. An order’s end lies at least two minutes before it may be refunded, also with 0.
    ttl: NotRequired[int]


class QuoteAnswer(TypedDict):
    price: OrderAnswerPrice
    #: The pool's newest output, mempool included; the quote is for it.
    pool: str
    priceQuote: Literal["."]
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    priceBase: str
    #: Integer.
    outputAmount: str
    #: Integer.
    inputAmount: str
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    outputAsset: str
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    inputAsset: str
    worstPrice: OrderAnswerPrice
    #: Integer.
    minimumOutput: str
    #: Hash of the script that holds such an order: compare it before you sign.
    orderScript: str
    #: Unix ms from which the order may be refunded. 0: it never is, and its owner may cancel it
    #: at any time.
    expiresAt: int
    #: Unix ms from which no block takes the transaction; null: it has no end.
    validUntil: int | None
    fees: OrderAnswerFees
    venue: Literal["CURVE", "AMM"]


#: 1 to 50 orders.
QuotesBody = list[QuoteQuery]

QuotesAnswer = list[QuoteAnswer | ItemError]


class LaunchInfo(TypedDict):
    assetType: Literal["Meme", "AI"]
    #: 1 to 16 characters, at most 32 bytes of UTF-8. No control, bidirectional or invisible
    #: characters; joiners stay where an emoji or a script is written with them.
    name: str
    ticker: str
    #: May be empty. No bidirectional control characters.
    description: str
    #: An absolute https URL without user, password, spaces and backslashes. It is stored as a URL
    #: parser prints it.
    twitter: NotRequired[str | None]
    #: An absolute https URL without user, password, spaces and backslashes. It is stored as a URL
    #: parser prints it.
    discord: NotRequired[str | None]
    #: An absolute https URL without user, password, spaces and backslashes. It is stored as a URL
    #: parser prints it.
    telegram: NotRequired[str | None]
    #: An absolute https URL without user, password, spaces and backslashes. It is stored as a URL
    #: parser prints it.
    website: NotRequired[str | None]
    launchType: NotRequired[Literal["DEFAULT", "HYPED", ""] | None]
    #: Lovelace of the initial buy; "0" is none.
    initialDeposit: NotRequired[str | None]
    #: bech32; a base or enterprise key address of this network.
    changeAddress: str
    #: Outputs to spend, each hex CBOR `[input, output]` (CIP-30). Absent: the server looks up the
    #: wallet. Their content is always read from the ledger.
    utxos: NotRequired[Literal["splash-wallet", ""] | list[str] | None]
    #: Outputs for collateral. Absent: the server adds its own and signs for it; a server without
    #: collateral uses an output of the wallet.
    collaterals: NotRequired[list[str] | None]
    ttl: NotRequired[int | None]


class LaunchAnswer(TypedDict):
    id: str
    #: Hex.
    cbor: str
    partial: bool
    #: Unix ms from which no block takes the transaction; null: it has no end.
    validUntil: int | None
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    assetId: str
    #: The name of the asset, hex.
    assetSubject: str
    policyId: str
    logoCID: str
    #: Integer.
    userOutputTokens: NotRequired[str]


class CancelBody(TypedDict):
    txHash: str
    index: str | int
    #: bech32; a base or enterprise key address of this network.
    changeAddress: str
    #: Outputs to spend, each hex CBOR `[input, output]` (CIP-30). Absent: the server looks up the
    #: wallet. Their content is always read from the ledger.
    utxos: NotRequired[Literal["splash-wallet", ""] | list[str] | None]
    #: Outputs for collateral. Absent: the server adds its own and signs for it; a server without
    #: collateral uses an output of the wallet.
    collaterals: NotRequired[list[str] | None]
    ttl: NotRequired[int | None]


class CancelAnswer(TypedDict):
    id: str
    #: Hex.
    cbor: str
    #: The server has signed for its collateral.
    partial: bool
    #: Unix ms from which no block takes the transaction; null: it has no end.
    validUntil: int | None


class TransferBodyTransferAssetsAssetsRow(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    unit: str
    amount: str


class TransferBodyTransferAssets(TypedDict):
    lovelace: str
    assets: NotRequired[list[TransferBodyTransferAssetsAssetsRow] | None]


class TransferBody(TypedDict):
    #: Outputs to spend, each hex CBOR `[input, output]` (CIP-30). Absent: the server looks up the
    #: wallet. Their content is always read from the ledger.
    utxos: NotRequired[Literal["splash-wallet", ""] | list[str] | None]
    #: bech32; a base or enterprise key address of this network.
    changeAddress: str
    #: bech32; a base or enterprise key address of this network.
    distAddress: str
    transferAssets: TransferBodyTransferAssets
    ttl: NotRequired[int | None]


TransferAnswer = CancelAnswer


class SignBody(TypedDict):
    #: Hex.
    cbor: str
    #: Hex.
    witness: str
    #: bech32; a base or enterprise key address of this network.
    changeAddress: str


class SignAnswer(TypedDict):
    #: Hex.
    cbor: str


SignAndSubmitBody = SignBody


class SignAndSubmitAnswer(TypedDict):
    txHash: str


SubmitBody = SignAnswer

SubmitAnswer = SignAndSubmitAnswer


class ParametersAnswer(TypedDict):
    #: Integer.
    tokenEmission: str
    #: Integer.
    aNum: str
    #: Integer.
    aDenom: str
    #: Integer.
    bNum: str
    #: Integer.
    bDenom: str
    #: Integer.
    adaThreshold: str
    #: Integer.
    fixedFee: str
    #: Integer.
    minTradeAda: str
    percentFee: int | Decimal
    #: Policy of pool NFTs, under which tokens launch.
    deployScript: str


class ProtocolConfigAnswerAddressesScriptsRow(TypedDict):
    #: Hash of a script.
    hash: str
    #: `<tx>:<index>` of the output that holds it.
    reference: str


class ProtocolConfigAnswerAddresses(TypedDict):
    #: bech32; a base or enterprise key address of this network.
    fee: str
    #: bech32; a base or enterprise key address of this network.
    metadata: str
    #: Payment key hash, 56 hex digits.
    executor: str
    #: Hash of a script.
    launchPolicy: str
    scripts: dict[str, ProtocolConfigAnswerAddressesScriptsRow]


class ProtocolConfigAnswerParametersTokenEmission(TypedDict):
    #: In display units: ADA, or tokens.
    human: str
    #: Integer.
    raw: str


class ProtocolConfigAnswerParameters(TypedDict):
    tokenEmission: ProtocolConfigAnswerParametersTokenEmission
    #: Integer.
    aNum: str
    #: Integer.
    aDenom: str
    #: Integer.
    bNum: str
    #: Integer.
    bDenom: str
    adaThreshold: ProtocolConfigAnswerParametersTokenEmission
    executorFee: ProtocolConfigAnswerParametersTokenEmission
    fixedFee: ProtocolConfigAnswerParametersTokenEmission
    orderDeposit: ProtocolConfigAnswerParametersTokenEmission
    minTradeAda: ProtocolConfigAnswerParametersTokenEmission
    poolKeep: ProtocolConfigAnswerParametersTokenEmission
    refundFee: ProtocolConfigAnswerParametersTokenEmission
    percentFee: int | Decimal
    creatorFeePer10k: int
    platformFeePer10k: int
    lpFeePer10k: int
    #: An order may be refunded so long after it.
    refundAfterMs: int


class ProtocolConfigAnswer(TypedDict):
    #: Version of this shape.
    version: Literal[2]
    #: Network in addresses: mainnet or testnet.
    network: str
    environment: str
    addresses: ProtocolConfigAnswerAddresses
    parameters: ProtocolConfigAnswerParameters


class CreateLockBody(TypedDict):
    #: bech32; a base or enterprise key address of this network.
    address: str
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    assetId: str
    #: Tokens in all.
    amount: str
    #: Unix ms at which the last stage unlocks.
    lockEnd: int | Decimal
    stagesCount: int
    ttl: NotRequired[int | None]


class CreateLockAnswer(TypedDict):
    #: Hex.
    cbor: str
    #: Unix ms from which no block takes the transaction; null: it has no end.
    validUntil: int | None


class WithdrawBody(TypedDict):
    #: An output: `<transaction hash>:<index>`.
    id: str
    #: bech32; a base or enterprise key address of this network.
    address: str
    ttl: NotRequired[int | None]


WithdrawAnswer = CreateLockAnswer


class GetUtxosBody(TypedDict):
    #: Payment key hash, 56 hex digits.
    pkh: str
    offset: NotRequired[int | None]
    limit: NotRequired[int | None]
    query: NotRequired[Literal["unspent", ""] | None]
    after: NotRequired[Literal[""] | str | None]


class GetUtxosAnswerRow(TypedDict):
    txHash: str
    index: int
    #: bech32
    address: str
    value: list[TransferBodyTransferAssetsAssetsRow]


GetUtxosAnswer = list[GetUtxosAnswerRow]


class FaucetBody(TypedDict):
    address: str
    ada: NotRequired[int | None]


FaucetAnswer = SignAndSubmitAnswer


class ForkBody(TypedDict):
    depth: int
    resubmit: NotRequired[Literal["all", "none"] | None]


class ForkAnswer(TypedDict):
    height: int


class MineBody(TypedDict):
    blocks: int


MineAnswer = ForkAnswer


class CreateWebhookBodyTopicsRowSince(TypedDict):
    epoch: str
    seq: int


class CreateWebhookBodyTopicsRow(TypedDict):
    #: A topic of the socket, but for Health.
    topic: str
    #: As the topic takes it.
    data: NotRequired[Any]
    #: Names the topic in its frames; its index where it is left out.
    requestId: NotRequired[str | int]
    #: Begin after this position, without a snapshot.
    since: NotRequired[CreateWebhookBodyTopicsRowSince]
    #: false: begin with what changes.
    snapshot: NotRequired[bool]
    #: Deliveries a second, rounded down to 1 2 5 10 20.
    maxHz: NotRequired[int | Decimal]


class CreateWebhookBody(TypedDict):
    #: Where frames are sent to, by https: an address of the public internet, port 443, 80 or one
    #: from 1024 on.
    url: str
    #: 1 to 20 of them, as in a subscription.
    topics: list[CreateWebhookBodyTopicsRow]
    secret: NotRequired[str | None]


class CreateWebhookAnswer(TypedDict):
    id: str
    #: Keep it: it is never shown again.
    secret: str


class WebhooksAnswerRowLastError(TypedDict):
    at: int
    message: str


class WebhooksAnswerRow(TypedDict):
    id: str
    url: str
    topics: list[CreateWebhookBodyTopicsRow]
    #: failing: tried again at `nextTryAt`; stopped: it failed for a day, and nothing is sent.
    state: Literal["active", "failing", "stopped"]
    #: Up to where the receiver has everything; null: nothing was delivered yet.
    position: CreateWebhookBodyTopicsRowSince | None
    #: Unix milliseconds.
    createdAt: int
    #: Time of the last delivery that was accepted.
    deliveredAt: int | None
    #: Attempts that failed since then.
    failures: int
    nextTryAt: int | None
    lastError: WebhooksAnswerRowLastError | None


WebhooksAnswer = list[WebhooksAnswerRow]

WebhookAnswer = WebhooksAnswerRow


class DeleteWebhookAnswer(TypedDict):
    id: str


class HealthReadyAnswerReasonsRow(TypedDict):
    code: Literal["LOG_NOT_WRITTEN", "STATE_NOT_WRITTEN", "FOLD_STOPPED", "DEVNET_NOT_WRITTEN", "NODE_AWAY", "NODE_BEHIND", "CHAIN_NOT_FOLLOWED", "NATS_AWAY", "NO_LEADER", "LOG_DIVERGED", "LOG_COPY_BEHIND", "STATE_DAMAGED", "KUPO_AWAY", "PARAMETERS_UNKNOWN", "SCRIPTS_NOT_EVALUATED", "POOLS_QUARANTINED", "EXECUTOR_MAY_NOT_TRADE", "STEPS_STUCK", "NO_BLOCKS", "MAY_NOT_LEAD", "SNAPSHOT_NOT_WRITTEN", "WEBHOOKS_NOT_SAVED", "API_KEYS_NOT_READ"]
    #: Cause, and what to do.
    message: str


class HealthReadyAnswerTip(TypedDict):
    #: Slot of the newest block; null without a chain.
    slot: int | None
    #: Hash of the newest block; null without a chain.
    hash: str | None
    #: Market time, Unix seconds.
    time: int | None
    #: Milliseconds between the newest entry and now; null where unknown.
    lagMs: int | None


class HealthReadyAnswerSync(TypedDict):
    #: Slot of the newest block here; null before the first.
    slot: int | None
    #: Slot of the node's newest block; null while the node does not tell.
    tipSlot: int | None
    #: Blocks that are still to come.
    blocksBehind: int | None
    #: Share of the slots from the start of following to the node's newest block.
    percent: int | Decimal | None
    #: Over the last 20 seconds.
    blocksPerSecond: int | Decimal
    #: At that pace; null where it cannot be told.
    secondsLeft: int | None


class HealthReadyAnswer(TypedDict):
    #: Name of the log: <n>-<random>.
    epoch: str
    #: Newest entry that every answer includes.
    seq: int
    node: str
    #: A reader never leads (ROLE=reader).
    role: Literal["leader", "follower", "reader"]
    synced: bool
    #: The source of entries is silent: right but old.
    stale: bool
    #: <epoch>:<seq>
    position: str
    #: Node that leads, as this one saw it last; null: none, nothing new comes.
    leader: str | None
    #: Term of the leader whose entry was applied last.
    term: int
    #: Entries that are written and not applied here yet.
    lagEntries: int
    #: Hex; equal on every node at this position.
    stateHash: str
    #: Entry after which stateHash was taken: that of the position.
    hashedSeq: int
    #: It serves, but something is wrong: see reasons.
    degraded: bool
    #: Faults, and conditions that this node waits for; empty: none.
    reasons: list[HealthReadyAnswerReasonsRow]
    quarantinedPools: int
    #: Tokens of pools with a step (fill, refund, graduation, payout to the creator) that fails;
    #: the other steps go on. Told by the leader; at most a hundred. Reasons say more.
    stuckPools: list[str]
    #: Why this node of several must not lead (full disk, wrong clock); null: it may.
    mayNotLead: str | None
    tip: HealthReadyAnswerTip
    #: null: there is nothing to catch up with.
    sync: HealthReadyAnswerSync | None

