"""User agents in short."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=1024)
def short_agent(agent: str) -> str:
    """The part of a user agent that tells clients apart: `kubectl/v1.37.1` of a long line."""
    return agent.split(" ", 1)[0][:48] or "unknown"
