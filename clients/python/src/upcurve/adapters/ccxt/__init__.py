"""The market as an exchange of ccxt: `pip install 'upcurve[ccxt]'`.

    from upcurve.adapters.ccxt import Upcurve

    exchange = Upcurve({"urls": {"api": "https://api.example.org"}, "privateKey": "<64 hex digits>"})

Its calls and structures are ccxt's unified ones. Beneath them is `upcurve.Client`, so several nodes are
tried in turn (`urls.api` may be a list), and what is watched has no gaps.

A symbol is `<asset id>/ADA`: tickers are not unique here, and anybody may launch a token that looks
like another. `market["info"]` has name and ticker. Amounts are whole tokens.
"""

from .trading import Upcurve

__all__ = ["Upcurve"]
