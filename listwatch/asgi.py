"""The ASGI application: `listwatch.asgi:application`, for `serve`, `runserver` and other servers.

Here the API, the dashboard's socket, static files and Django's pages meet; each is loaded when it
is first asked for. `serving.application` says which request goes where.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "listwatch.settings")

import django
from django.apps import apps
from django.conf import settings

if not apps.ready:
    django.setup()

from listwatch import conf
from listwatch.serving.application import Application

if TYPE_CHECKING:
    from listwatch.runtime import Runtime
    from listwatch.serving.application import App

STATIC_PATH = f"/{settings.STATIC_URL.strip('/')}/"


def _runtime() -> Runtime:
    from listwatch.runtime import Runtime

    return Runtime(conf.load(getattr(settings, "LISTWATCH", None)))


def _api() -> App:
    from listwatch.api.handler import KubernetesHandler

    return KubernetesHandler()


def _pages() -> App:
    from django.core.asgi import get_asgi_application

    return get_asgi_application()


def _sockets() -> App:
    from channels.auth import AuthMiddlewareStack
    from channels.routing import URLRouter
    from channels.security.websocket import AllowedHostsOriginValidator

    from dashboard.routing import websocket_urlpatterns
    from listwatch.serving.origins import SameOrigin

    routes: list[Any] = [*websocket_urlpatterns]  # Any: Channels types them as its own class
    signed_in: Any = AuthMiddlewareStack(URLRouter(routes))  # Any: a union of all ASGI versions
    return AllowedHostsOriginValidator(SameOrigin(signed_in))


def _static() -> App:
    from listwatch.serving.static import StaticFiles

    return StaticFiles(STATIC_PATH)


application = Application(
    runtime=_runtime,
    api=_api,
    pages=_pages,
    sockets=_sockets,
    static=_static,
    static_path=STATIC_PATH,
)
