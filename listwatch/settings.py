"""Django settings of the server, read from the options in `listwatch.conf`."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from listwatch import conf

BASE_DIR = Path(__file__).resolve().parent.parent
OPTIONS = conf.load()


def _database(url: str) -> dict[str, object]:
    if not url:
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": OPTIONS.data / "listwatch.sqlite3",
            "OPTIONS": {
                "timeout": 20,
                # WAL lets readers go on beside the writer; FULL because a machine may lose power.
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
                "transaction_mode": "IMMEDIATE",
            },
        }
    parts = urlsplit(url)
    if parts.scheme not in ("postgres", "postgresql"):
        raise ImproperlyConfigured(f"LISTWATCH_DATABASE_URL: no database for {parts.scheme}://")
    # As libpq reads it: `?host=/run/postgresql` names a socket, `?sslmode=require` an option.
    query = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.path.lstrip("/"),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": query.pop("host", parts.hostname or ""),
        "PORT": query.pop("port", str(parts.port or "")),
        # Prepared statements: a write takes half the time (a pooler must pass them through).
        "OPTIONS": {"server_side_binding": True, "prepare_threshold": 5, **query},
    }


DATABASES = {"default": _database(OPTIONS.database_url)}
SECRET_KEY = "set when the server starts"  # noqa: S105 (serving reads or makes the real one)
DEBUG = False
ALLOWED_HOSTS = ["*"]
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "listwatch.store.apps.StoreConfig",
]
MIDDLEWARE: list[str] = []
ROOT_URLCONF = "listwatch.urls"
STATIC_URL = "static/"
