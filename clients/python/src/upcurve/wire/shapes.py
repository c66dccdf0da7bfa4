"""Shapes used by both answers and topics.

Made from the documents of the server by scripts/writeWireTypes.ts: not edited by hand.
"""

from __future__ import annotations

from decimal import Decimal

from typing import Any, Literal, TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class ItemErrorError(TypedDict):
    #: For a machine; see the list of causes.
    cause: str
    #: For a person: what happened and what to do.
    message: str
    #: Which item: `body.3`.
    path: str


class ItemError(TypedDict):
    error: ItemErrorError


class AssetInfoPoolAuthor(TypedDict):
    pkh: str
    skh: str


class AssetInfoSocials(TypedDict):
    twitter: str | None
    telegram: str | None
    discord: str | None
    website: str | None


class AssetInfo(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    asset: str
    name: str
    ticker: str
    logoCID: str
    description: str
    #: 0: DEFAULT, 1: HYPED.
    launchType: int
    poolAuthor: AssetInfoPoolAuthor
    socials: AssetInfoSocials
    #: `<tx>:<index>` of the metadata; null where the launch carried none.
    outputId: str | None
    assetType: str


class LiquidityPoolInfoPoolX(TypedDict):
    asset: Literal["."]
    #: Integer.
    amount: str


class LiquidityPoolInfoPoolY(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    asset: str
    #: Integer.
    amount: str


class LiquidityPoolInfoPoolOutputId(TypedDict):
    transactionId: str
    transactionIndex: int


class LiquidityPoolInfoPool(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    id: str
    x: LiquidityPoolInfoPoolX
    y: LiquidityPoolInfoPoolY
    outputId: LiquidityPoolInfoPoolOutputId
    aNum: int | Decimal
    bNum: int | Decimal
    #: Lovelace.
    adaCapThreshold: int
    poolAuthor: str
    launchType: Literal[""]
    #: Time of the launch. null: following began later, and Kupo does not have it. Last in lists.
    createdOn: int | None
    #: Payment key hash, 56 hex digits.
    permittedExecutor: str
    #: Set by graduation.
    cpmmPoolId: str | None
    version: Literal["v1"]
    #: Unix seconds.
    timestamp: int


class LiquidityPoolInfoMetricsLocksRow(TypedDict):
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


class LiquidityPoolInfoMetrics(TypedDict):
    #: Lovelace.
    marketCap: int
    #: Lovelace.
    totalVolumeAda: int
    totalTxCount: int
    #: null: it was never on top, or its history is not whole (`since`).
    crowned: int | None
    sequentialOrderingEnabled: bool
    #: null: its history is whole. Else the slot with which this node’s history of it begins,
    #: because following began after its launch: earlier trades, volume and holders are missing.
    since: int | None
    locks: list[LiquidityPoolInfoMetricsLocksRow]


class LiquidityPoolInfo(TypedDict):
    pool: LiquidityPoolInfoPool
    metrics: LiquidityPoolInfoMetrics
    info: AssetInfo


class TradingMetrics(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    asset: str
    #: Payment key hash, 56 hex digits.
    pkh: str
    buyCount: int
    sellCount: int
    #: Integer.
    boughtTokens: str
    #: Integer.
    soldTokens: str
    #: ADA.
    spentAda: str
    #: ADA.
    receivedAda: str
    #: Confirmed tokens at all addresses with this key, however they came.
    balance: str
    #: ADA per token; "0" where there was none.
    averageBuyPrice: str
    #: ADA per token; "0" where there was none.
    averageSellPrice: str
    #: ADA.
    realizedPnlAda: str
    #: ADA.
    unrealizedPnlAda: str
    #: Unix seconds, of the block.
    firstTradeTime: int
    #: Unix seconds, of the block.
    lastTradeTime: int


class InsightsAuthor(TypedDict):
    #: Tokens that the author’s payment key holds now, in percent of the supply outside the pool.
    percent: str
    #: Tokens that its filled sells ever sold.
    sold: str
    #: Other tokens that this key launched.
    launches: int
    #: How many of them have graduated.
    graduated: int


class InsightsBundlers(TypedDict):
    #: Distinct payment keys.
    keys: int
    #: Their present holdings, in percent of the supply outside the pool.
    percent: str


class Insights(TypedDict):
    #: Payment keys, and addresses without one, that hold tokens.
    holders: int
    #: Tokens of the ten largest holders, in percent of the supply outside the pool.
    top10Percent: str
    #: Tokens of the largest holder, in percent of the supply outside the pool.
    largestPercent: str
    #: The same as `largestPercent`, in percent of the supply outside the pool.
    topHolderPercent: str
    #: Tokens in vesting locks, in percent of the supply outside the pool.
    lockedPercent: str
    author: InsightsAuthor
    #: The same as `author.percent`, in percent of the supply outside the pool.
    authorPercent: str
    #: A sell of the author’s payment key was filled.
    authorSold: bool
    #: The same as `author.sold`.
    authorSoldTokens: str
    #: Keys other than the author’s with a filled buy that was placed in the block of the launch,
    #: behind it. The key of an order is the one that its payment goes to. null where the launch
    #: came before the first block followed here.
    bundlers: InsightsBundlers | None
    #: The same for the three blocks after the launch block; a bundler is no sniper. null where
    #: the launch came before the first block followed here.
    snipers: InsightsBundlers | None
    #: Payment keys other than the author’s that the launch transaction paid tokens to, or that
    #: gained tokens in a transaction in which the author’s key lost some. Tokens from fills of
    #: orders and from withdrawn locks do not count. null where the launch came before the first
    #: block followed here.
    insiders: InsightsBundlers | None
    #: Buys that were **filled** in the block of the launch by other keys than the author’s. null
    #: where the launch came before the first block followed here.
    bundled: InsightsBundlers | None


class ApiOrderWorstPrice(TypedDict):
    #: Integer.
    numerator: str
    #: Integer.
    denominator: str


ApiOrder = TypedDict(
    "ApiOrder",
    {
        #: `<tx>:<index>` of the order output.
        "entityId": "str",
        "beacon": "str",
        #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
        "from": "str",
        #: Integer.
        "fromAmount": "str",
        #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
        "to": "str",
        #: Received in all. Before that the least that the worst price accepts; 0 when given back or
        #: dropped.
        "toAmount": "str",
        #: Part of `fromAmount` that was executed, in blocks.
        "filledAmount": "str",
        #: Part of `fromAmount` that was not executed.
        "remaining": "str",
        #: Where the output is paid to, bech32.
        "address": "str",
        #: Output per input.
        "worstPrice": "ApiOrderWorstPrice",
        #: Placed it.
        "pendingTransactionId": "str",
        #: Executed (the newest part of) it, refunded or cancelled it, in a block or in the mempool.
        "evaluatedTransactionId": "str | None",
        #: Unix seconds of the block that placed it, or when the mempool first showed it.
        "timestamp": "int",
        #: State of the order in chain and mempool; see the states of an order.
        "status": "Literal['Pending', 'Evaluated', 'Refunded', 'Dropped', 'MempoolPending', 'MempoolEvaluated', 'MempoolRefunded']",
        #: Spot on the curve, CFMM on the AMM: of the fill, until then as expected.
        "orderType": "Literal['Spot', 'CFMM']",
        #: Payment key hash, 56 hex digits.
        "pkh": "str",
        "venue": "Literal['CURVE', 'AMM']",
        #: Unix seconds of the block that ended it.
        "evaluatedAt": "int | None",
        #: Unix milliseconds from which on it may be refunded. 0: it never is, and its owner may
        #: cancel it at any time.
        "expiresAt": "int",
        #: cancelled by its owner, or expired.
        "refundReason": "Literal['cancelled', 'expired'] | None",
        #: Lovelace that its executions, in blocks, paid to the executor beside `fromAmount`. It does
        #: not include what a refund keeps; fees in percent are in the amounts.
        "feeLovelace": "str",
    },
)


class OrderPageLedger(TypedDict):
    #: Number of orders on all pages, within `from` and `to`.
    count: int
    #: On the chain, newest first.
    items: list[ApiOrder]


class OrderPage(TypedDict):
    ledger: OrderPageLedger
    #: Every order that is in no block yet, newest first.
    mempool: list[ApiOrder]


class OrderTradesFillsRow(TypedDict):
    txHash: str
    #: Unix seconds.
    time: int
    #: Integer.
    fromAmount: str
    #: Integer.
    toAmount: str
    #: ADA per token.
    price: str


OrderTrades = TypedDict(
    "OrderTrades",
    {
        #: `<tx>:<index>` of the order output.
        "entityId": "str",
        "beacon": "str",
        #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
        "from": "str",
        #: Integer.
        "fromAmount": "str",
        #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
        "to": "str",
        #: Received in all. Before that the least that the worst price accepts; 0 when given back or
        #: dropped.
        "toAmount": "str",
        #: Part of `fromAmount` that was executed, in blocks.
        "filledAmount": "str",
        #: Part of `fromAmount` that was not executed.
        "remaining": "str",
        #: Where the output is paid to, bech32.
        "address": "str",
        #: Output per input.
        "worstPrice": "ApiOrderWorstPrice",
        #: Placed it.
        "pendingTransactionId": "str",
        #: Executed (the newest part of) it, refunded or cancelled it, in a block or in the mempool.
        "evaluatedTransactionId": "str | None",
        #: Unix seconds of the block that placed it, or when the mempool first showed it.
        "timestamp": "int",
        #: State of the order in chain and mempool; see the states of an order.
        "status": "Literal['Pending', 'Evaluated', 'Refunded', 'Dropped', 'MempoolPending', 'MempoolEvaluated', 'MempoolRefunded']",
        #: Spot on the curve, CFMM on the AMM: of the fill, until then as expected.
        "orderType": "Literal['Spot', 'CFMM']",
        #: Payment key hash, 56 hex digits.
        "pkh": "str",
        "venue": "Literal['CURVE', 'AMM']",
        #: Unix seconds of the block that ended it.
        "evaluatedAt": "int | None",
        #: Unix milliseconds from which on it may be refunded. 0: it never is, and its owner may
        #: cancel it at any time.
        "expiresAt": "int",
        #: cancelled by its owner, or expired.
        "refundReason": "Literal['cancelled', 'expired'] | None",
        #: Lovelace that its executions, in blocks, paid to the executor beside `fromAmount`. It does
        #: not include what a refund keeps; fees in percent are in the amounts.
        "feeLovelace": "str",
        #: closed: executed. cancelled: given back, or dropped. mempool: may change.
        "orderStatus": "Literal['open', 'closed', 'cancelled', 'mempool']",
        #: Integer.
        "inputAmount": "str",
        #: Integer.
        "outputAmount": "str",
        #: ADA per token: of the trade (percent fee left out), else the worst one.
        "price": "str",
        #: Filled percent of the offered amount, cut to 2 decimals.
        "filled": "str",
        "fills": "list[OrderTradesFillsRow]",
    },
)


class BookLevel(TypedDict):
    #: ADA per token.
    price: str
    #: Tokens.
    amount: str
    #: Lovelace that all tokens up to this price cost or bring, percent fees included.
    total: str


class LimitLevel(TypedDict):
    #: ADA per token.
    price: str
    #: Tokens.
    amount: str
    orders: int


class TradeRow(TypedDict):
    #: Place in the chain: slot, transaction, fill. Sorts; unique for the token.
    id: str
    #: Unix seconds.
    time: int
    side: Literal["buy", "sell"]
    #: ADA per token: coin over tokens moved, percent fee left out.
    price: str
    #: Tokens moved.
    baseAmount: str
    #: Lovelace moved.
    quoteAmount: str
    txHash: str
    #: Payment key of the trader; empty where it cannot be told.
    pkh: str
    #: ADA per token.
    spotAfter: str


class ChangeBasis5m(TypedDict):
    since: Literal["launch"]


ChangeBasis = TypedDict(
    "ChangeBasis",
    {
        "5m": "NotRequired[ChangeBasis5m]",
        "1h": "NotRequired[ChangeBasis5m]",
        "6h": "NotRequired[ChangeBasis5m]",
        "24h": "NotRequired[ChangeBasis5m]",
    },
)

Spark = TypedDict(
    "Spark",
    {
        #: Start of the first step, Unix seconds.
        "from": "int",
        #: Seconds: the smallest of 1, 2, 3, 5, 10, 15, 20 and 30 minutes that covers the age of the
        #: token, at most 24 hours, with at most 48 points. Steps are aligned to 00:00 UTC.
        "step": "int",
        #: Price at the end of each step, the last one now.
        "closes": "list[str | None]",
    },
)


class Ticker(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    asset: str
    name: str
    ticker: str
    logoCID: str
    #: Spot price, ADA per token.
    price: str
    #: ADA; null without a pool.
    marketCap: str | None
    #: Percent that the price changed in the last 5 minutes, or since the launch if it was later
    #: (`changeBasis` says so); null: the price then is not known.
    change5m: str | None
    #: Percent that the price changed in the last hour, or since the launch if it was later
    #: (`changeBasis` says so); null: the price then is not known.
    change1h: str | None
    #: Percent that the price changed in the last 6 hours, or since the launch if it was later
    #: (`changeBasis` says so); null: the price then is not known.
    change6h: str | None
    #: Percent that the price changed in the last 24 hours, or since the launch if it was later
    #: (`changeBasis` says so); null: the price then is not known.
    change24h: str | None
    changeBasis: ChangeBasis
    #: Highest spot price before and after each trade of 24 hours.
    high24h: str
    #: Lowest of them.
    low24h: str
    #: ADA traded.
    volume5m: str
    #: ADA traded.
    volume1h: str
    #: ADA traded.
    volume6h: str
    #: ADA traded.
    volume24h: str
    #: Buys; null for a pair without a pool, where sides are unknown.
    buys5m: int | None
    #: Sells; null for a pair without a pool, where sides are unknown.
    sells5m: int | None
    #: Buys; null for a pair without a pool, where sides are unknown.
    buys1h: int | None
    #: Sells; null for a pair without a pool, where sides are unknown.
    sells1h: int | None
    #: Buys; null for a pair without a pool, where sides are unknown.
    buys6h: int | None
    #: Sells; null for a pair without a pool, where sides are unknown.
    sells6h: int | None
    #: Buys; null for a pair without a pool, where sides are unknown.
    buys24h: int | None
    #: Sells; null for a pair without a pool, where sides are unknown.
    sells24h: int | None
    #: Payment keys that traded in 24 hours; null without a pool.
    traders24h: int | None
    #: Twice the ADA in the pool; null without a pool.
    liquidity: str | None
    #: Percent of the curve’s cap, cut to 2 decimals; null without.
    progress: str | None
    #: Launch, or the first trade without a pool: Unix seconds. null: not known.
    createdOn: int | None
    #: Unix seconds; null without a trade.
    lastTradeTime: int | None
    #: Whether it trades on the AMM; null without a pool.
    graduated: bool | None
    #: Tokens of the ten largest holders, in percent of the supply outside the pool; null without
    #: a pool.
    top10Percent: str | None
    #: Tokens of the author’s payment key, in percent of the supply outside the pool; null without
    #: a pool.
    authorPercent: str | None
    #: Tokens that snipers hold, in percent of the supply outside the pool; null without a pool,
    #: and where the launch came before the first block that this market follows.
    snipersPercent: str | None
    #: Payment keys, and addresses without one, that hold tokens; null without a pool.
    holders: int | None
    spark: Spark


class StreamSubscriptionSince(TypedDict):
    epoch: str
    seq: int


class StreamSubscription(TypedDict):
    #: A topic of the socket; AsyncAPI lists them.
    topic: str
    #: As the topic takes it.
    data: NotRequired[Any]
    #: Names the subscription in its events; its index where it is left out.
    requestId: NotRequired[str | int]
    #: Continue from here; `Last-Event-ID` goes before it.
    since: NotRequired[StreamSubscriptionSince]
    #: false: changes only.
    snapshot: NotRequired[bool]
    #: Events a second, rounded down to 1, 2, 5, 10 or 20.
    maxHz: NotRequired[int | Decimal]


class PoolListUpdate(TypedDict):
    #: Pools that changed or are new on the page; a snapshot has every pool.
    items: list[LiquidityPoolInfo]
    #: Asset ids of the page in their order. The pool of each is in `items`, or was in an earlier
    #: update’s; a pool that is not named has left the page.
    order: list[str]
    #: Unsigned IEEE CRC-32 of the asset ids of `order` joined by commas.
    crc32: int


class OrderBookLimits(TypedDict):
    #: By worst price, best first. Tokens that are left, or that a buy takes at least.
    buys: list[LimitLevel]
    #: By worst price, best first. Tokens that are left, or that a buy takes at least.
    sells: list[LimitLevel]


class OrderBookPending(TypedDict):
    buys: int
    sells: int
    #: Integer.
    buyLovelace: str
    #: Integer.
    sellTokens: str


class OrderBook(TypedDict):
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
    limits: OrderBookLimits
    #: Open orders in blocks that the pool, at this position and alone, would fill: numbers, and
    #: their offers without fee and deposit.
    pending: OrderBookPending
    #: CRC-32 (IEEE) of `price:amount`, as sent, of the first 10 asks, then the first 10 bids,
    #: joined by `|`: 8 hex digits; of an empty book `00000000`. The frame is applied first.
    checksum: str


class ChangedLevel(TypedDict):
    #: ADA per token.
    price: str
    #: Tokens; 0: the level is gone.
    amount: str


class OrderBookChanges(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    asset: str
    #: The pool's output that this is the depth of.
    pool: str
    #: ADA per token.
    spot: str
    bids: list[ChangedLevel]
    asks: list[ChangedLevel]
    #: Open orders in blocks that the pool would not fill now; they may cross.
    limits: NotRequired[OrderBookLimits]
    #: Open orders in blocks that the pool, at this position and alone, would fill: numbers, and
    #: their offers without fee and deposit.
    pending: NotRequired[OrderBookPending]
    #: CRC-32 (IEEE) of `price:amount`, as sent, of the first 10 asks, then the first 10 bids,
    #: joined by `|`: 8 hex digits; of an empty book `00000000`. The frame is applied first.
    checksum: str


class MarketTrade(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    asset: str
    ticker: str
    #: Place in the chain: slot, transaction, fill. Sorts; unique for the token.
    id: str
    #: Unix seconds.
    time: int
    side: Literal["buy", "sell"]
    #: ADA per token: coin over tokens moved, percent fee left out.
    price: str
    #: Tokens moved.
    baseAmount: str
    #: Lovelace moved.
    quoteAmount: str
    txHash: str
    #: Payment key of the trader; empty where it cannot be told.
    pkh: str
    #: ADA per token.
    spotAfter: str


class TickerUpdate(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    asset: str
    name: str
    ticker: str
    logoCID: str
    #: Spot price, ADA per token.
    price: str
    #: ADA; null without a pool.
    marketCap: str | None
    #: Percent that the price changed in the last 5 minutes, or since the launch if it was later
    #: (`changeBasis` says so); null: the price then is not known.
    change5m: str | None
    #: Percent that the price changed in the last hour, or since the launch if it was later
    #: (`changeBasis` says so); null: the price then is not known.
    change1h: str | None
    #: Percent that the price changed in the last 6 hours, or since the launch if it was later
    #: (`changeBasis` says so); null: the price then is not known.
    change6h: str | None
    #: Percent that the price changed in the last 24 hours, or since the launch if it was later
    #: (`changeBasis` says so); null: the price then is not known.
    change24h: str | None
    changeBasis: ChangeBasis
    #: Highest spot price before and after each trade of 24 hours.
    high24h: str
    #: Lowest of them.
    low24h: str
    #: ADA traded.
    volume5m: str
    #: ADA traded.
    volume1h: str
    #: ADA traded.
    volume6h: str
    #: ADA traded.
    volume24h: str
    #: Buys; null for a pair without a pool, where sides are unknown.
    buys5m: int | None
    #: Sells; null for a pair without a pool, where sides are unknown.
    sells5m: int | None
    #: Buys; null for a pair without a pool, where sides are unknown.
    buys1h: int | None
    #: Sells; null for a pair without a pool, where sides are unknown.
    sells1h: int | None
    #: Buys; null for a pair without a pool, where sides are unknown.
    buys6h: int | None
    #: Sells; null for a pair without a pool, where sides are unknown.
    sells6h: int | None
    #: Buys; null for a pair without a pool, where sides are unknown.
    buys24h: int | None
    #: Sells; null for a pair without a pool, where sides are unknown.
    sells24h: int | None
    #: Payment keys that traded in 24 hours; null without a pool.
    traders24h: int | None
    #: Twice the ADA in the pool; null without a pool.
    liquidity: str | None
    #: Percent of the curve’s cap, cut to 2 decimals; null without.
    progress: str | None
    #: Launch, or the first trade without a pool: Unix seconds. null: not known.
    createdOn: int | None
    #: Unix seconds; null without a trade.
    lastTradeTime: int | None
    #: Whether it trades on the AMM; null without a pool.
    graduated: bool | None
    #: Tokens of the ten largest holders, in percent of the supply outside the pool; null without
    #: a pool.
    top10Percent: str | None
    #: Tokens of the author’s payment key, in percent of the supply outside the pool; null without
    #: a pool.
    authorPercent: str | None
    #: Tokens that snipers hold, in percent of the supply outside the pool; null without a pool,
    #: and where the launch came before the first block that this market follows.
    snipersPercent: str | None
    #: Payment keys, and addresses without one, that hold tokens; null without a pool.
    holders: int | None
    spark: NotRequired[Spark]


class TickersUpdate(TypedDict):
    #: Tickers that changed or are new in the list; a snapshot has every ticker.
    items: list[TickerUpdate]
    #: Asset ids of the list in their order. The ticker of each is in `items`, or was in an
    #: earlier update’s; a token that is not named has left the list.
    order: list[str]
    #: Unsigned IEEE CRC-32 of the asset ids of `order` joined by commas.
    crc32: int


class Launch(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    asset: str
    name: str
    ticker: str
    logoCID: str
    description: str
    #: 0: DEFAULT, 1: HYPED.
    launchType: int
    poolAuthor: AssetInfoPoolAuthor
    socials: AssetInfoSocials
    #: `<tx>:<index>` of the metadata; null where the launch carried none.
    outputId: str | None
    assetType: str
    #: Asset id of the pool’s NFT.
    poolId: str
    #: The launch.
    txHash: str
    #: Unix seconds: of its block; while it is pending, when it was seen.
    time: int
    #: In the mempool, in no block yet.
    pending: bool


class Rollback(TypedDict):
    #: The entry that it was: another one is another rollback.
    seq: int
    #: Slot of the newest block that it left; null: none, or no chain.
    toSlot: int | None
    #: How many blocks it took away; null without a chain.
    blocks: int | None

