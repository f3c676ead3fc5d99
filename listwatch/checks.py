"""System checks: what would lose events or memory is said before the server starts."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig, apps
from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, Tags, register

OLDEST_SQLITE = (3, 35, 0)  # the first that knows RETURNING


@register(Tags.database)
def check_database(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """The store's database is one whose commit order it can know, and keeps what it confirms."""
    database: dict[str, Any] = settings.DATABASES["default"]  # Any: Django's own form
    engine = database["ENGINE"].rpartition(".")[2]
    if engine == "postgresql":
        return []
    if engine != "sqlite3":
        return [
            Error(
                f"The store does not work on {engine}.",
                hint="Use SQLite (the default), or PostgreSQL by LISTWATCH_DATABASE_URL.",
                id="listwatch.E001",
            )
        ]
    found: list[CheckMessage] = []
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        found.append(
            Error(
                f"SQLite {sqlite3.sqlite_version} cannot return the revision of a write.",
                hint="Python's sqlite3 module needs SQLite 3.35 or newer, or use PostgreSQL.",
                id="listwatch.E002",
            )
        )
    options = database.get("OPTIONS", {})
    command = str(options.get("init_command", "")).replace(" ", "").lower()
    if "journal_mode=wal" not in command or "synchronous=full" not in command:
        found.append(
            checks.Warning(
                "SQLite's connections do not set journal_mode=WAL and synchronous=FULL.",
                hint="Readers would wait for writers, or a power cut lose confirmed writes: see "
                "DATABASES in listwatch.settings.",
                id="listwatch.W001",
            )
        )
    if options.get("transaction_mode") != "IMMEDIATE":
        found.append(
            checks.Warning(
                "SQLite's transactions do not begin IMMEDIATE.",
                hint="Two writers that both read first would fail with 'database is locked'.",
                id="listwatch.W002",
            )
        )
    return found


@register()
def check_development_server(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[CheckMessage]:
    """Daphne is listed after us, so that `runserver` is the one whose readers can be slow."""
    if not apps.is_installed("daphne"):
        return []
    names = [config.name for config in apps.get_app_configs()]
    if names.index("listwatch") < names.index("daphne"):
        return []
    return [
        checks.Warning(
            "runserver is plain Daphne, whose send() never waits for the client.",
            hint="A watch that is not read would grow this process without limit: list "
            "'listwatch.apps.ListwatchConfig' before 'daphne' in INSTALLED_APPS.",
            id="listwatch.W003",
        )
    ]


@register(Tags.security)
def check_channel_layer(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[CheckMessage]:
    """The channel layer's package is there before the first page asks for it."""
    layers: dict[str, Any] = settings.CHANNEL_LAYERS  # Any: Channels' own form
    backend = str(layers.get("default", {}).get("BACKEND", ""))
    if not backend.startswith("channels_redis."):
        return []
    try:
        import channels_redis  # noqa: F401
    except ImportError:
        return [
            Error(
                "LISTWATCH_REDIS_URL is set, but channels-redis is not installed.",
                hint="pip install 'listwatch[redis]'",
                id="listwatch.E003",
            )
        ]
    return []
