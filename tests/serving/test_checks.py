"""System checks: each finds what it is for, and nothing in the settings as they are."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.test import override_settings

from listwatch import checks


def ids(found: list[Any]) -> list[str | None]:
    return [each.id for each in found]


def sqlite(**options: object) -> dict[str, Any]:
    database = {**settings.DATABASES["default"]}
    database["ENGINE"] = "django.db.backends.sqlite3"
    database["OPTIONS"] = {
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
        "transaction_mode": "IMMEDIATE",
        **options,
    }
    return {"default": database}


def test_the_settings_as_they_are_pass() -> None:
    assert checks.check_database(None) == []
    assert checks.check_development_server(None) == []
    assert checks.check_channel_layer(None) == []


@pytest.mark.parametrize(
    ("databases", "expected"),
    [
        (sqlite(), []),
        (sqlite(init_command="PRAGMA journal_mode=WAL;"), ["listwatch.W001"]),
        (sqlite(init_command="PRAGMA synchronous=FULL;"), ["listwatch.W001"]),
        (sqlite(transaction_mode=None), ["listwatch.W002"]),
        ({"default": {"ENGINE": "django.db.backends.postgresql"}}, []),
        ({"default": {"ENGINE": "django.db.backends.mysql"}}, ["listwatch.E001"]),
    ],
)
def test_a_database_that_would_lose_or_lock_is_found(
    databases: dict[str, Any], expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "settings", SimpleNamespace(DATABASES=databases))

    assert ids(checks.check_database(None)) == expected


def test_a_sqlite_that_is_too_old_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "OLDEST_SQLITE", (99, 0, 0))
    monkeypatch.setattr(checks, "settings", SimpleNamespace(DATABASES=sqlite()))

    assert ids(checks.check_database(None)) == ["listwatch.E002"]


def test_plain_daphne_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apps, "is_installed", lambda name: name == "daphne")
    for order, expected in (
        (["listwatch", "daphne"], []),
        (["daphne", "listwatch"], ["listwatch.W003"]),
    ):
        configs = [SimpleNamespace(name=name) for name in order]
        monkeypatch.setattr(apps, "get_app_configs", lambda configs=configs: configs)
        assert ids(checks.check_development_server(None)) == expected


def test_a_channel_layer_that_is_not_installed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    layers = {"default": {"BACKEND": "channels_redis.core.RedisChannelLayer"}}
    monkeypatch.setitem(sys.modules, "channels_redis", None)
    with override_settings(CHANNEL_LAYERS=layers):
        assert ids(checks.check_channel_layer(None)) == ["listwatch.E003"]
