"""Topics of the socket.

Made from the documents of the server by scripts/writeWireTypes.ts: not edited by hand.
"""

from __future__ import annotations

from decimal import Decimal

from typing import Literal, TYPE_CHECKING, TypedDict

from .shapes import (
    ApiOrder,
    Insights,
    Launch,
    LiquidityPoolInfo,
    MarketTrade,
    OrderBook,
    OrderBookChanges,
    PoolListUpdate,
    Rollback,
    TickersUpdate,
    TradeRow,
)

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class LastBarInputPair(TypedDict):
    #: Asset id, or `.`, `ADA` or `0x` for the native coin.
    base: str
    #: Asset id, or `.`, `ADA` or `0x` for the native coin.
    quote: str


class LastBarInput(TypedDict):
    pair: LastBarInputPair
    #: UTC; weeks start Monday 00:00, months on the 1st.
    interval: Literal["min1", "min3", "min5", "min15", "min30", "hour1", "hour2", "hour4", "hour12", "day1", "week1", "month1"]
    fill: NotRequired[Literal["none", "previous", ""] | None]
    #: `trade` (default): prices of the trades. `spot`: the spot price before and after each
    #: trade, so that the bars of a chart connect.
    price: NotRequired[Literal["trade", "spot", ""] | None]


class LastBarDataRow(TypedDict):
    #: `base_quote`
    pair: str
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
    #: The interval contains market time.
    isRelevant: bool


LastBarData = LastBarDataRow | None


class LastBarRevisedBarsRow2(TypedDict):
    time: int
    removed: Literal[True]


class LastBarRevised(TypedDict):
    pair: str
    #: UTC; weeks start Monday 00:00, months on the 1st.
    interval: Literal["min1", "min3", "min5", "min15", "min30", "hour1", "hour2", "hour4", "hour12", "day1", "week1", "month1"]
    reason: Literal["rollback", "late", "final"]
    fromSlot: int | None
    toSlot: int | None
    bars: list[LastBarDataRow | LastBarRevisedBarsRow2]


class MCapBarInput(TypedDict):
    pair: LastBarInputPair
    #: UTC; weeks start Monday 00:00, months on the 1st.
    interval: Literal["min1", "min3", "min5", "min15", "min30", "hour1", "hour2", "hour4", "hour12", "day1", "week1", "month1"]
    fill: NotRequired[Literal["none", "previous", ""] | None]


class MCapBarDataRow(TypedDict):
    #: `base_quote`
    pair: str
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


MCapBarData = MCapBarDataRow | None


class MCapBarRevised(TypedDict):
    pair: str
    #: UTC; weeks start Monday 00:00, months on the 1st.
    interval: Literal["min1", "min3", "min5", "min15", "min30", "hour1", "hour2", "hour4", "hour12", "day1", "week1", "month1"]
    reason: Literal["rollback", "late", "final"]
    fromSlot: int | None
    toSlot: int | None
    bars: list[MCapBarDataRow | LastBarRevisedBarsRow2]


class PoolFeedInput(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    asset: str


PoolFeedData = LiquidityPoolInfo | None

KOTHData = LiquidityPoolInfo | None

NewData = PoolListUpdate

LatestData = PoolListUpdate

CompletedCreateOnData = PoolListUpdate

CompletedMCapData = PoolListUpdate

MCapDescData = PoolListUpdate

TrendingData = PoolListUpdate


class LiveOrdersFeedInput(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    asset: str
    #: null or []: everybody.
    pkhFilter: NotRequired[None | list[str]]
    #: The same, by its other name.
    pkhs: NotRequired[None | list[str]]


class LiveOrdersFeedDataRow(TypedDict):
    #: Changed orders on the chain, newest first.
    ledger: list[ApiOrder]
    #: Changed orders that are in no block.
    mempool: list[ApiOrder]
    #: Neither the chain nor the mempool has them.
    removed: list[str]
    #: Number of all orders on the chain.
    count: int


LiveOrdersFeedData = LiveOrdersFeedDataRow | None


class LiveOrdersFeedRevised(TypedDict):
    #: Changed orders on the chain, newest first.
    ledger: list[ApiOrder]
    #: Changed orders that are in no block.
    mempool: list[ApiOrder]
    #: Neither the chain nor the mempool has them.
    removed: list[str]
    #: Number of all orders on the chain.
    count: int
    reason: Literal["rollback"]
    fromSlot: int | None
    toSlot: int | None


class UserHistoryByAddressInput(TypedDict):
    #: bech32; a base or enterprise key address of this network.
    address: str


UserHistoryByAddressData = LiveOrdersFeedDataRow | None

UserHistoryByAddressRevised = LiveOrdersFeedRevised


class UserHistoryByAddressAndAssetInput(TypedDict):
    #: bech32; a base or enterprise key address of this network.
    address: str
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    asset: str


UserHistoryByAddressAndAssetData = LiveOrdersFeedDataRow | None

UserHistoryByAddressAndAssetRevised = LiveOrdersFeedRevised


class OrderBookInput(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    asset: str
    #: Significant decimal digits of the prices of bids and asks.
    digits: NotRequired[int]
    mode: NotRequired[Literal["snapshot", "changes"]]


OrderBookData = OrderBook | OrderBookChanges | None

TradesInput = PoolFeedInput


class TradesDataRowRow2(TypedDict):
    #: Place in the chain: slot, transaction, fill. Sorts; unique for the token.
    id: str
    removed: Literal[True]


#: Newest first; after a rollback also `{id, removed: true}`.
TradesData = list[TradeRow | TradesDataRowRow2] | None


class NewestTradesInput(TypedDict):
    limit: NotRequired[int]
    #: Least amount moved, in lovelace.
    minQuote: NotRequired[str]
    #: Only buys, or only sells.
    side: NotRequired[Literal["buy", "sell"]]
    #: Only trades on the AMM, or only those on a curve.
    graduated: NotRequired[bool]
    #: Most seconds from the launch to the trade; a launch that is not known fails.
    maxAge: NotRequired[int]
    #: Lower bound of the market cap after it, in ADA.
    minMarketCap: NotRequired[str]
    #: Upper bound of the market cap after it, in ADA.
    maxMarketCap: NotRequired[str]


#: Newest first; trades of one slot by their place in the block.
NewestTradesData = list[MarketTrade]


class TickersInput(TypedDict):
    #: These tokens, in this order; the other fields say nothing then.
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
    graduated: NotRequired[bool]
    limit: NotRequired[int]


TickersData = TickersUpdate

InsightsInput = PoolFeedInput

InsightsData = Insights | None


class NewLaunchesInput(TypedDict):
    #: Payment key hash of the author: only its launches.
    author: NotRequired[str]
    #: Only tokens with this `assetType`. The chain does not say it: every token has `Meme`.
    assetType: NotRequired[str]


class NewLaunchesDataRow2(TypedDict):
    #: Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
    asset: str
    removed: Literal[True]


NewLaunchesData = list[Launch | NewLaunchesDataRow2]


class HealthDataTip(TypedDict):
    #: Slot of the newest block; null without a chain.
    slot: int | None
    #: Hash of the newest block; null without a chain.
    hash: str | None
    #: Market time, Unix seconds.
    time: int | None
    #: Milliseconds between the newest entry and now; null where unknown.
    lagMs: int | None
    #: Height of the newest block; null without a chain.
    height: int | None


class HealthData(TypedDict):
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
    tip: HealthDataTip
    #: The newest rollback that holds; null: there was none.
    rollback: Rollback | None
    #: Codes of faults, and of conditions that this node waits for: see /health/ready.
    reasons: list[str]
    #: false: submissions answer 503 NOT_READY for now.
    submits: bool

