"""`/dashboard/learn/` and its two neighbours; what runs lives with the page that started it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboard.learn import comparison, way
from dashboard.pages import Shown, page

if TYPE_CHECKING:
    from django.http import HttpRequest


@page("learn")
async def learn(request: HttpRequest) -> Shown:
    """The step mode."""
    return Shown({"streams": ["list", "streaming list"]}, {"here": "learn"})


@page("learn_pod", tab="learn")
async def pod(request: HttpRequest) -> Shown:
    """The way of a pod."""
    least, most = way.REPLICAS
    return Shown({"replicas": {"least": least, "most": most}}, {"here": "learn-pod"})


@page("learn_compare", tab="learn")
async def compare(request: HttpRequest) -> Shown:
    """Three ways compared."""
    data = {
        "clients": {"least": comparison.CLIENTS[0], "most": comparison.CLIENTS[1]},
        "rate": {"least": comparison.RATES[0], "most": comparison.RATES[1]},
    }
    return Shown(data, {"here": "learn-compare"})
