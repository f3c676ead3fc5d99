"""The project's settings with the middlewares that hold back or rewrite what pages answer."""

from __future__ import annotations

from listwatch.settings import *  # noqa: F403
from listwatch.settings import MIDDLEWARE

MIDDLEWARE = [
    "django.middleware.gzip.GZipMiddleware",
    "django.middleware.http.ConditionalGetMiddleware",
    *MIDDLEWARE,
]
