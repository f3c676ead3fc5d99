"""The pages, each with its `.json` twin."""

from __future__ import annotations

from collections.abc import Iterator

from django.contrib.auth.views import LogoutView
from django.urls import URLPattern, path

from dashboard import views

app_name = "dashboard"


def _page(route: str, view: views.Page, name: str) -> Iterator[URLPattern]:
    """A page at `route/` and its data at `route.json`."""
    yield path(f"{route}/" if route else "", view, name=name)
    yield path(f"{route or name}.json", view, {"as_json": True}, name=f"{name}-json")


urlpatterns = [
    *_page("", views.overview, "overview"),
    *_page("resources/<str:resource>", views.resource, "resource"),
    *_page("flow", views.flow, "flow"),
    *_page("watchers", views.watchers, "watchers"),
    *_page("attach", views.attach, "attach"),
    path("patterns/", views.patterns, name="patterns"),
    path("theme/", views.theme, name="theme"),
    path("login/", views.Login.as_view(), name="login"),
    path("logout/", LogoutView.as_view(next_page="dashboard:login"), name="logout"),
]
