"""Our admin site: kinds by their API group, in the colours of the dashboard."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.contrib.admin import AdminSite
from django.db.models import Count
from django.http import HttpRequest, JsonResponse
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, path, reverse

from listwatch.admin.doors import runtime_of
from listwatch.admin.models import APP
from listwatch.editing.completion import completions
from listwatch.faults import FACTS
from listwatch.protocol.errors import StatusError
from listwatch.protocol.kinds import Resource
from listwatch.store.models import StoredObject

THEMES = ("", "light", "dark")
THEME_COOKIE = "listwatch_theme"  # the dashboard's

Context = dict[str, Any]  # Any: what a template may be given


class Site(AdminSite):
    """Every served kind, and who may log in."""

    site_title = "listwatch"
    site_header = "listwatch"
    index_title = "Objects"
    empty_value_display = ""
    enable_nav_sidebar = True

    @property
    def site_url(self) -> str:  # type: ignore[override]
        """The dashboard, where there is one."""
        try:
            return reverse("dashboard:overview")
        except NoReverseMatch:
            return "/"

    def each_context(self, request: HttpRequest) -> Context:
        """What every page needs: Django's, and the colours that were chosen."""
        theme = request.COOKIES.get(THEME_COOKIE, "")
        theme = theme if theme in THEMES else ""
        following = THEMES[(THEMES.index(theme) + 1) % len(THEMES)]
        return {
            **super().each_context(request),
            "theme": theme,
            "next_theme": following,
            "faults_on": _faults(request),
            "faults_url": f"{self.site_url}faults/",
        }

    def get_urls(self) -> list[Any]:
        """Django's, and what the editor asks."""
        ours = path("completion.json", self.admin_view(self.completion), name="completion")
        return [ours, *super().get_urls()]

    def completion(self, request: HttpRequest) -> JsonResponse:
        """What may stand at a place of an object's text."""
        query = request.GET
        resources = runtime_of(request).resources.served()
        where = query.get("apiVersion", ""), query.get("kind", ""), query.getlist("path")
        return JsonResponse(completions(resources, *where))

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Our kinds group by group, `v1` first; then Django's own apps."""
        apps = super().get_app_list(request, app_label)
        ours = [app for app in apps if app["app_label"] == APP]
        others = [app for app in apps if app["app_label"] != APP]
        return [*(group for app in ours for group in _by_group(app)), *others]

    def index(self, request: HttpRequest, extra_context: Context | None = None) -> TemplateResponse:
        """The front page, with how many there are of each kind."""
        counts = StoredObject.objects.values_list("group", "resource").annotate(Count("pk"))
        found = {(group, resource): count for group, resource, count in counts}
        apps = self.get_app_list(request)
        for app in apps:
            for model in app["models"]:
                if kind := _kind(model):
                    storage = kind.storage
                    model["count"] = found.get((storage.group, storage.resource), 0)
        return super().index(request, {"app_list": apps, **(extra_context or {})})


def _faults(request: HttpRequest) -> list[Context]:
    """Those that are on, so that nobody takes what they do for a defect; none without a server."""
    try:
        faults = runtime_of(request).faults
    except StatusError:
        return []
    return [
        {
            "title": FACTS[each.spec.type].title,
            "reach": each.spec.reach,
            "until": datetime.fromtimestamp(each.until, UTC),
        }
        for each in (faults.active() if faults is not None else ())
    ]


def _by_group(app: Context) -> list[Context]:
    groups: dict[str, list[Context]] = {}
    for model in app["models"]:
        kind = _kind(model)
        groups.setdefault(kind.api_version if kind else "", []).append(model)
    return [{**app, "name": name, "models": groups[name]} for name in sorted(groups, key=_rank)]


def _kind(model: Context) -> Resource | None:
    return getattr(model["model"], "kind", None)


def _rank(api_version: str) -> tuple[bool, str]:
    return "/" in api_version, api_version
