"""The dashboard's one WebSocket."""

from __future__ import annotations

from django.urls import path

from dashboard.consumers import DashboardConsumer
from dashboard.links import SOCKET_PATH

__all__ = ["SOCKET_PATH", "websocket_urlpatterns"]

websocket_urlpatterns = [
    path(SOCKET_PATH.lstrip("/"), DashboardConsumer.as_asgi())  # type: ignore[arg-type]  # as Channels says
]
