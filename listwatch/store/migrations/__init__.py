"""Migrations of the store's tables."""

from __future__ import annotations
