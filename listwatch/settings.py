"""Django settings of the server, read from the options in `listwatch.conf`."""

from __future__ import annotations

import secrets
import socket
import sys
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


def _secret_key() -> str:
    """The kept key, or one for this process alone: `serve` keeps it when it makes the folder."""
    kept = OPTIONS.data / "secret-key"
    if OPTIONS.secret_key:
        return OPTIONS.secret_key
    return (kept.read_text().strip() if kept.is_file() else "") or secrets.token_urlsafe(48)


def _packaged(name: str) -> Path:
    """A folder of the repository; in a wheel its copy inside the package."""
    inside = BASE_DIR / "listwatch" / f"_{name}"
    return inside if inside.is_dir() else BASE_DIR / name


DATABASES = {"default": _database(OPTIONS.database_url)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
SECRET_KEY = _secret_key()
DEBUG = False
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"

# Daphne only for its own command: it loads Twisted, 28 MiB and a third of a second.
DEVELOPMENT = sys.argv[1:2] == ["runserver"]
INSTALLED_APPS = [
    "listwatch.apps.ListwatchConfig",
    *(["daphne"] if DEVELOPMENT else []),
    "dashboard.apps.DashboardConfig",
    "listwatch.admin.apps.SiteConfig",  # Django's admin with our site
    "listwatch.admin.apps.ObjectsConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "listwatch.store.apps.StoreConfig",
]
# Of the pages and the admin. The API has none of this: see `listwatch.api.handler`.
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "listwatch.urls"
ASGI_APPLICATION = "listwatch.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [_packaged("templates")],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
STATIC_URL = "static/"
STATICFILES_DIRS = [_packaged("static")]

# Doorbells of the dashboard only; no event travels on it.
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        "CONFIG": {"hosts": [OPTIONS.redis_url]},
    }
    if OPTIONS.redis_url
    else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
}

# Who may ask, and what a page may do.
ALLOWED_HOSTS = [
    *("localhost", "127.0.0.1", "[::1]", socket.gethostname()),
    *(host.strip() for host in OPTIONS.allowed_hosts.split(",") if host.strip()),
]
LOGIN_URL = "dashboard:login"
LOGIN_REDIRECT_URL = "dashboard:overview"
SESSION_COOKIE_NAME = "listwatch_session"  # cookies are shared by all ports of a host
SESSION_COOKIE_AGE = 30 * 24 * 3600
CSRF_COOKIE_NAME = "listwatch_csrf"
CSRF_COOKIE_HTTPONLY = False  # the dashboard's scripts send it along with what they write
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 8 * 1024 * 1024  # a form: the largest object, and what it was
SECURE_REFERRER_POLICY = "same-origin"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'none'"],
    }
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"},
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        # Refusals are answers, not events; a failure of ours is logged with its traceback.
        "django.request": {"level": "ERROR"},
        "django.security.DisallowedHost": {"level": "ERROR"},
        "_granian": {"level": "ERROR"},
        "daphne": {"level": "WARNING"},
    },
}
