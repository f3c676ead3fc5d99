"""Helpers for tests, for anyone's: a clock that is turned by hand, and the pytest plugin."""

from __future__ import annotations
