"""The nodes of one market. All answer alike; after a failure the next one is used, in a circle."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit


class Nodes:
    def __init__(self, urls: str | Sequence[str]) -> None:
        names = [urls] if isinstance(urls, str) else list(urls)
        if not names:
            raise ValueError("name at least one node")
        for url in names:
            parts = urlsplit(url)
            if parts.scheme not in ("http", "https") or not parts.netloc:
                raise ValueError(f"{url} does not start with http:// or https:// and a host")
        self._urls = [url.rstrip("/") for url in names]
        self._at = 0

    def __len__(self) -> int:
        return len(self._urls)

    @property
    def current(self) -> str:
        """Base URL without a slash at its end."""
        return self._urls[self._at]

    def leave(self, url: str) -> None:
        """Moves on to the next, unless another caller has done so already."""
        if url == self.current:
            self._at = (self._at + 1) % len(self._urls)


def socket_url(url: str) -> str:
    """`http://host/base` → `ws://host/base/ws`."""
    return "ws" + url[len("http") :] + "/ws"
