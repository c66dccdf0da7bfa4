"""Client of an upcurve token market: exact bars, orders and trades that stay right through broken
connections, restarts and rollbacks; and a wallet whose key never leaves this process."""

from .client import Client
from .connection import ConnectionState, Notice
from .errors import ApiError
from .keys import Key, new_secret, payment_key_hash, transaction_id
from .mirrors.bar_source import CapBar, PriceBar
from .mirrors.bars import BarsChange, BarsMirror, BarsState
from .mirrors.base import Change, Mirror
from .mirrors.launches import LaunchesChange, LaunchesMirror
from .mirrors.orders import OrdersChange, OrdersMirror, OrdersState
from .mirrors.pools import PoolsChange, PoolsMirror
from .mirrors.tickers import TickersChange, TickersMirror
from .mirrors.trades import TradesChange, TradesMirror, TradesState
from .mirrors.whole import WholeMirror
from .money import ada_of, lovelace_of, price_of
from .position import Answer, Position
from .subscription import Receiver, SubscribeParams
from .wallet import PlacedOrder, Wallet
from .webhooks import is_from_webhook

__all__ = [
    "Answer",
    "ApiError",
    "BarsChange",
    "BarsMirror",
    "BarsState",
    "CapBar",
    "Change",
    "Client",
    "ConnectionState",
    "Key",
    "LaunchesChange",
    "LaunchesMirror",
    "Mirror",
    "Notice",
    "OrdersChange",
    "OrdersMirror",
    "OrdersState",
    "PlacedOrder",
    "PoolsChange",
    "PoolsMirror",
    "Position",
    "PriceBar",
    "Receiver",
    "SubscribeParams",
    "TickersChange",
    "TickersMirror",
    "TradesChange",
    "TradesMirror",
    "TradesState",
    "Wallet",
    "WholeMirror",
    "ada_of",
    "is_from_webhook",
    "lovelace_of",
    "new_secret",
    "payment_key_hash",
    "price_of",
    "transaction_id",
]
