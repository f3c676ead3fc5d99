"""Cells of kinds that have little to show."""

from __future__ import annotations

from typing import Any

from listwatch.protocol.objects import JSONObject
from listwatch.schemas.cells.texts import age, items, name_of, part, text


def config_map(document: JSONObject, now: float) -> list[Any]:
    """Name, Data, Age."""
    count = len(part(document, "data")) + len(part(document, "binaryData"))
    return [name_of(document), count, age(document, now)]


def secret(document: JSONObject, now: float) -> list[Any]:
    """Name, Type, Data, Age."""
    return [
        name_of(document), text(document, "type"), len(items(document, "data")), age(document, now),
    ]  # fmt: skip


def namespace(document: JSONObject, now: float) -> list[Any]:
    """Name, Status, Age."""
    return [name_of(document), text(document, "status", "phase"), age(document, now)]


def service_account(document: JSONObject, now: float) -> list[Any]:
    """Name, Age."""
    return [name_of(document), age(document, now)]


def lease(document: JSONObject, now: float) -> list[Any]:
    """Name, Holder, Age."""
    return [name_of(document), text(document, "spec", "holderIdentity"), age(document, now)]
