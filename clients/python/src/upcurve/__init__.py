"""Client of an upcurve token market."""

from .client import Client
from .connection import ConnectionState, Notice
from .errors import ApiError
from .position import Answer, Position

__all__ = ["Answer", "ApiError", "Client", "ConnectionState", "Notice", "Position"]
