"""The calls of the API, grouped as `client.<group>.<call>`.

Arguments have the names of the documentation (`/docs`), but for spans of time: `start` and `end` are
its `from` and `to`. Each answers an `Answer`, and raises ApiError.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote as quoted

from .http import Http
from .position import Answer, Position
from .wire import rest as api
from .wire import shapes

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .market import PoolList, Resolution


#: The most pools of one answer.
_PAGE = 100


def _refusing_unknown(call: Callable[..., Any]) -> Callable[..., Any]:
    """The call, which refuses names that it does not have: the server passes over parameters that it
    does not know, so a name with a fault in it would be another question. Raises TypeError."""
    parameters = inspect.signature(call).parameters.values()
    rest = next((each for each in parameters if each.kind is each.VAR_KEYWORD), None)
    if rest is None:
        return call
    _, _, shape = str(rest.annotation).removesuffix("]").rpartition(".")
    known = {each.name for each in parameters} | set(getattr(api, shape).__annotations__)

    @functools.wraps(call)
    async def checked(*args: Any, **query: Any) -> Any:
        unknown = sorted(query.keys() - known)
        if unknown:
            names = ", ".join(sorted(known - {"self", rest.name}))
            raise TypeError(f"{call.__qualname__}() has no argument {unknown[0]!r}, only {names}")
        return await call(*args, **query)

    return checked


class Group:
    def __init__(self, http: Http) -> None:
        self._http = http

    def __init_subclass__(cls) -> None:
        for name, call in list(vars(cls).items()):
            if inspect.iscoroutinefunction(call):
                setattr(cls, name, _refusing_unknown(call))

    async def _get(self, path: str, query: object = None, **options: Any) -> Answer[Any]:
        return await self._http.call("GET", path, query=_sent(query), **options)

    async def _post(
        self, path: str, body: object, query: object = None, **options: Any
    ) -> Answer[Any]:
        return await self._http.call("POST", path, query=_sent(query), body=body, **options)


class Charts(Group):
    async def history(
        self, *, min_position: Position | None = None, **query: Unpack[api.ChartHistoryQuery]
    ) -> Answer[api.ChartHistoryAnswer]:
        """Bars whose start is in [start, end), Unix seconds, oldest first; `next_to` where older ones
        were cut."""
        return await self._get("/v1/charts/history", query, min_position=min_position)

    async def whole_history(
        self, **query: Unpack[api.ChartHistoryQuery]
    ) -> Answer[api.ChartHistoryAnswer]:
        """The same for any number of bars, page by page. Each page is at least as new as the one
        before; `position` is the first page's, so a subscription from there misses nothing."""
        first = page = await self.history(**query)
        bars = page.data
        while page.next_to is not None:
            query["end"] = page.next_to
            page = await self.history(min_position=page.position, **query)
            bars = [*page.data, *bars]
        return replace(first, data=bars, next_to=None)

    async def history_csv(self, **query: Unpack[api.ChartHistoryQuery]) -> Answer[str]:
        """The bars of `history` as CSV (RFC 4180, a header row), for spreadsheets and `csv.DictReader`."""
        return await self._http.csv("GET", "/v1/charts/history", _sent(query) or {})

    async def mcap_history_csv(self, **query: Unpack[api.McapHistoryQuery]) -> Answer[str]:
        return await self._http.csv("GET", "/v1/charts/mcap/history", _sent(query) or {})

    async def mcap_history(
        self, *, min_position: Position | None = None, **query: Unpack[api.McapHistoryQuery]
    ) -> Answer[api.McapHistoryAnswer]:
        return await self._get("/v1/charts/mcap/history", query, min_position=min_position)

    async def bulk(self, spans: Sequence[api.ChartBulkBodyRow]) -> Answer[api.ChartBulkAnswer]:
        """Bars of up to 50 spans, all at one position; in the order asked."""
        return await self._post("/v1/charts/bulk", list(spans))

    async def initial_state(
        self, **query: Unpack[api.ChartInitialStateQuery]
    ) -> Answer[api.ChartInitialStateAnswer]:
        return await self._get("/v1/charts/initial-state", query)

    async def mcap_initial_state(
        self, **query: Unpack[api.McapInitialStateQuery]
    ) -> Answer[api.McapInitialStateAnswer]:
        return await self._get("/v1/charts/mcap/initial-state", query)

    async def last(self, **query: Unpack[api.ChartLastQuery]) -> Answer[api.ChartLastAnswer]:
        return await self._get("/v1/charts/last", query)


class Pools(Group):
    async def list(self, filter: PoolList) -> Answer[api.PoolListAnswer]:
        """The first 100 of a list."""
        return await self._get("/v1/pools-main-page/initial/state", {"filter": filter})

    async def top(self) -> Answer[shapes.LiquidityPoolInfo]:
        """The pool with the highest market cap; status 404 while there is none."""
        return await self._get("/v1/pools-main-page/koth")

    async def search(self, **query: Unpack[api.SearchPoolsQuery]) -> Answer[api.SearchPoolsAnswer]:
        return await self._get("/v1/pools-main-page/search", query)

    async def by_ticker(self, ticker: str) -> Answer[Sequence[shapes.LiquidityPoolInfo]]:
        """Every token with exactly this ticker, in either case; the highest market cap first. Tickers are
        not unique: anybody may launch a token with the ticker of another. Look at `info.asset`."""
        found: dict[str, shapes.LiquidityPoolInfo] = {}
        offset = 0
        while True:
            page = await self.search(pattern=ticker, offset=offset, limit=_PAGE)
            rows = page.data["items"]
            same = [row for row in rows if row["info"]["ticker"].lower() == ticker.lower()]
            found |= {row["info"]["asset"]: row for row in same}
            offset += _PAGE
            if len(rows) < _PAGE:
                break
        by_cap = sorted(found.values(), key=lambda row: -row["metrics"]["marketCap"])
        return Answer(by_cap, page.position, page.slot, page.block_hash)

    async def following(
        self, assets: Sequence[str], **query: Unpack[api.FollowingQuery]
    ) -> Answer[api.FollowingAnswer]:
        """Pages of the pools of some tokens, in the order of `assets`."""
        return await self._post("/v1/following", list(assets), query)

    async def following_list(self, assets: Sequence[str]) -> Answer[api.FollowingListAnswer]:
        return await self._post("/v1/following/list", list(assets))

    async def one(self, asset: str) -> Answer[shapes.LiquidityPoolInfo]:
        return await self._get("/v1/pools-feed/initial/state", {"asset": asset})

    async def curve_progress(self, asset: str) -> Answer[api.CurveProgressAnswer]:
        return await self._get("/v1/pools-feed/curve/progress", {"asset": asset})

    async def asset_info(self, asset: str) -> Answer[shapes.AssetInfo]:
        return await self._get("/v1/asset-info", {"asset": asset})


class Trades(Group):
    async def list(self, **query: Unpack[api.TradesQuery]) -> Answer[api.TradesAnswer]:
        """Newest first; `before` a trade's id. Where a filter read as many as one answer may,
        `next_before` says where to go on."""
        return await self._get("/v1/trades", query)


    async def csv(self, **query: Unpack[api.TradesQuery]) -> Answer[str]:
        """The rows of `list` as CSV (RFC 4180, a header row)."""
        return await self._http.csv("GET", "/v1/trades", _sent(query) or {})


class Tickers(Group):
    async def list(self, **query: Unpack[api.TickersQuery]) -> Answer[api.TickersAnswer]:
        """A page, sorted and filtered; by volume of 24 hours unless `sort` says otherwise."""
        return await self._get("/v1/tickers", query)

    async def of_assets(self, assets: Sequence[str]) -> Answer[api.TickersOfAssetsAnswer]:
        """Tickers of the given tokens, in the order of `assets`."""
        return await self._post("/v1/tickers", list(assets))


class Orders(Group):
    async def feed(
        self, pkhs: Sequence[str] | None = None, **query: Unpack[api.OrderFeedQuery]
    ) -> Answer[shapes.OrderPage]:
        """Orders of a token; of some payment keys only where `pkhs` names any."""
        body = None if pkhs is None else list(pkhs)
        return await self._post("/v1/orders-feed/initial/state", body, query)

    async def feed_csv(
        self, pkhs: Sequence[str] | None = None, **query: Unpack[api.OrderFeedQuery]
    ) -> Answer[str]:
        """The orders of `feed` that are on the chain, as CSV (RFC 4180, a header row)."""
        body = None if pkhs is None else list(pkhs)
        path = "/v1/orders-feed/initial/state"
        return await self._http.csv("POST", path, _sent(query) or {}, body)

    async def of_keys_csv(
        self, pkhs: Sequence[str], **query: Unpack[api.UserHistoryQuery]
    ) -> Answer[str]:
        path = "/v1/user-history-feed/initial/state"
        return await self._http.csv("POST", path, _sent(query) or {}, list(pkhs))

    async def of_keys(
        self, pkhs: Sequence[str], **query: Unpack[api.UserHistoryQuery]
    ) -> Answer[shapes.OrderPage]:
        """Orders of keys over all tokens."""
        return await self._post("/v1/user-history-feed/initial/state", list(pkhs), query)

    async def of_keys_by_asset(
        self, pkhs: Sequence[str], **query: Unpack[api.UserHistoryByAssetQuery]
    ) -> Answer[shapes.OrderPage]:
        path = "/v1/user-history-feed/initial/state/by/asset"
        return await self._post(path, list(pkhs), query)

    async def open_of_keys(
        self, pkhs: Sequence[str], **query: Unpack[api.UserOpenOrdersQuery]
    ) -> Answer[shapes.OrderPage]:
        """Locks that have not ended."""
        return await self._post("/v1/user-history-feed/initial/state/open", list(pkhs), query)

    async def by_beacon(self, beacon: str) -> Answer[shapes.OrderTrades]:
        return await self._get("/v1/user-history-feed/order/trades", {"beacon": beacon})

    async def book(
        self, **query: Unpack[api.OrderBookQuery]
    ) -> Answer[api.OrderBookAnswer]:
        """Amounts that the pool trades at each price, and the open orders beside them."""
        return await self._get("/v1/order-book", query)


class Holders(Group):
    async def list(self, **query: Unpack[api.HoldersQuery]) -> Answer[api.HoldersAnswer]:
        return await self._get("/balances/v1/pool/holders", query)

    async def metrics(self, asset: str, pkh: str) -> Answer[shapes.TradingMetrics | None]:
        """Profit and loss of one key in one token; None without a trade."""
        return await self._get("/v1/orders-feed/metrics", {"asset": asset, "pkh": pkh})

    async def pnl_card(self, asset: str, pkhs: Sequence[str]) -> Answer[api.PnlCardAnswer]:
        return await self._post("/balances/v1/user/pnl-card", list(pkhs), {"assetId": asset})

    async def insights(self, asset: str) -> Answer[api.TokenInsightsAnswer]:
        """How a token is spread, what its author did, who bought with the launch."""
        return await self._get("/v1/tokens/insights", {"asset": asset})

    async def traders(
        self, **query: Unpack[api.TokenTradersQuery]
    ) -> Answer[api.TokenTradersAnswer]:
        """The keys with the largest profit or volume in a token, at most 100."""
        return await self._get("/v1/tokens/traders", query)

    async def portfolio(
        self, pkhs: Sequence[str], **query: Unpack[api.PortfolioQuery]
    ) -> Answer[api.PortfolioAnswer]:
        """Holdings, profit, open orders and locks of the keys in all tokens."""
        return await self._post("/v1/portfolio", list(pkhs), query)

    async def portfolio_history(
        self, pkhs: Sequence[str], **query: Unpack[api.PortfolioHistoryQuery]
    ) -> Answer[api.PortfolioHistoryAnswer]:
        """Profit of the keys over time, oldest first; `next_to` where older points were cut."""
        return await self._post("/v1/portfolio/history", list(pkhs), query)

    async def asset_balance(
        self, asset: str, pkhs: Sequence[str]
    ) -> Answer[api.AssetBalanceAnswer]:
        """Holdings of the keys in one token, and their value in ADA at the spot price."""
        path = "/balances/v1/asset/asset-balance"
        return await self._post(path, list(pkhs), {"assetId": asset})


class Build(Group):
    """Transactions for a wallet to sign. Amounts are texts of integers, as `str(5_000_000)`.

    `idempotency_key`: a text of your own for one transaction. A repeat with it gets the same
    transaction, from the same node."""

    async def quote(self, **query: Unpack[api.QuoteQuery]) -> Answer[api.QuoteAnswer]:
        return await self._get("/quote", query)

    async def quotes(self, orders: Sequence[api.QuoteQuery]) -> Answer[api.QuotesAnswer]:
        """Up to 50 quotes at one state of the pools; in the order asked."""
        return await self._post("/quotes", list(orders))

    async def order(
        self, *, idempotency_key: str | None = None, **body: Unpack[api.OrderBody]
    ) -> Answer[api.OrderAnswer]:
        return await self._post("/order", body, idempotency_key=idempotency_key)

    async def cancel(
        self, *, idempotency_key: str | None = None, **body: Unpack[api.CancelBody]
    ) -> Answer[api.CancelAnswer]:
        return await self._post("/cancel", body, idempotency_key=idempotency_key)

    async def transfer(
        self, *, idempotency_key: str | None = None, **body: Unpack[api.TransferBody]
    ) -> Answer[api.TransferAnswer]:
        return await self._post("/transfer", body, idempotency_key=idempotency_key)

    async def launch(
        self,
        image: bytes,
        media_type: str,
        *,
        idempotency_key: str | None = None,
        **info: Unpack[api.LaunchInfo],
    ) -> Answer[api.LaunchAnswer]:
        """`media_type`: image/png, image/jpeg or image/gif. Each launch that is built keeps an image
        on the server, so it is not repeated by itself."""
        name = "logo." + media_type.removeprefix("image/")
        form = (name, image, media_type, json.dumps(info, ensure_ascii=False))
        return await self._http.call(
            "POST", "/launch", form=form, is_repeatable=False, idempotency_key=idempotency_key
        )

    async def parameters(self) -> Answer[api.ParametersAnswer]:
        return await self._get("/parameters")

    async def protocol_config(self) -> Answer[api.ProtocolConfigAnswer]:
        return await self._get("/snekfun-front/protocol-config.json")


class Submit(Group):
    """Safe to repeat: a transaction that is known answers the same again."""

    async def transaction(self, cbor: str) -> Answer[api.SubmitAnswer]:
        """A transaction with all its witnesses."""
        return await self._post("/submit", {"cbor": cbor})

    async def sign(self, **body: Unpack[api.SignBody]) -> Answer[api.SignAnswer]:
        """Puts a witness set into a transaction."""
        return await self._post("/sign", body)

    async def sign_and_submit(
        self, **body: Unpack[api.SignAndSubmitBody]
    ) -> Answer[api.SignAndSubmitAnswer]:
        return await self._post("/sign-and-submit", body)


class Vesting(Group):
    async def create_lock(
        self, *, idempotency_key: str | None = None, **body: Unpack[api.CreateLockBody]
    ) -> Answer[api.CreateLockAnswer]:
        return await self._post("/create-lock", body, idempotency_key=idempotency_key)

    async def withdraw(self, **body: Unpack[api.WithdrawBody]) -> Answer[api.WithdrawAnswer]:
        return await self._post("/withdraw", body)

    async def by_owner(self, pkh: str) -> Answer[api.LocksByOwnerAnswer]:
        """Unspent locks of a payment key."""
        return await self._post("/v1/vesting/get-by-redeemer", {}, {"redeemerVkhs": pkh})

    async def by_asset(self, asset: str) -> Answer[api.LocksByAssetAnswer]:
        return await self._post(f"/v1/vesting/get-by-asset/{quoted(asset, safe='')}", {})


class Utxos(Group):
    async def list(self, **body: Unpack[api.GetUtxosBody]) -> Answer[api.GetUtxosAnswer]:
        return await self._post("/getUtxos", body)


class Devnet(Group):
    """There on a devnet only; elsewhere ApiError NOT_FOUND."""

    async def faucet(self, **body: Unpack[api.FaucetBody]) -> Answer[api.FaucetAnswer]:
        return await self._post("/devnet/v1/faucet", body, is_repeatable=False)

    async def fork(self, **body: Unpack[api.ForkBody]) -> Answer[api.ForkAnswer]:
        """Undoes the newest blocks."""
        return await self._post("/devnet/v1/fork", body, is_repeatable=False)

    async def mine(self, **body: Unpack[api.MineBody]) -> Answer[api.MineAnswer]:
        return await self._post("/devnet/v1/mine", body, is_repeatable=False)


class Webhooks(Group):
    """With a key only; else ApiError KEY_REQUIRED."""

    async def create(self, **body: Unpack[api.CreateWebhookBody]) -> Answer[api.CreateWebhookAnswer]:
        """Twice makes two, so it is not repeated by itself. Keep the `secret`."""
        return await self._post("/v1/webhooks", body, is_repeatable=False)

    async def list(self) -> Answer[api.WebhooksAnswer]:
        return await self._get("/v1/webhooks")

    async def get(self, id: str) -> Answer[api.WebhookAnswer]:
        return await self._get(f"/v1/webhooks/{quoted(id, safe='')}")

    async def remove(self, id: str) -> Answer[api.DeleteWebhookAnswer]:
        path = f"/v1/webhooks/{quoted(id, safe='')}"
        return await self._http.call("DELETE", path, is_repeatable=False)


class Operations(Group):
    async def time(self) -> Answer[api.ServerTimeAnswer]:
        return await self._get("/v1/utility/server/time")

    async def limits(self) -> Answer[api.LimitsAnswer]:
        """Limits of the client's API key or address, and the remaining amounts."""
        return await self._get("/v1/limits")

    async def ada_usd(self) -> Answer[api.AdaUsdRateAnswer]:
        """US dollars for one ADA; ApiError NOT_CONFIGURED where the server has no source."""
        return await self._get("/v1/utility/ada-usd/rate")

    async def ready(self) -> Answer[api.HealthReadyAnswer]:
        """Also while the node is syncing: `synced` is false then."""
        return await self._get("/health/ready", also_answers=503)


def _sent(query: object) -> dict[str, object] | None:
    """As the API names them: `from` is a word of Python."""
    if query is None:
        return None
    fields = cast("dict[str, object]", query)
    return {_NAMES.get(name, name): value for name, value in fields.items()}


_NAMES = {"start": "from", "end": "to"}
