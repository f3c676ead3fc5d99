"""Filters beside a list: by namespace, and by labels as a label selector."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.contrib.admin.views.main import ChangeList
from django.db.models import Count, F, QuerySet
from django.http import HttpRequest

from listwatch.admin.among import Among
from listwatch.admin.doors import door_of
from listwatch.protocol.errors import StatusError
from listwatch.protocol.selectors import LabelSelector
from listwatch.store.models import StoredObject

Objects = QuerySet[StoredObject]
if TYPE_CHECKING:
    ObjectAdmin = ModelAdmin[StoredObject]


class NamespaceFilter(SimpleListFilter):
    """The namespaces that have such objects, with how many."""

    title = "namespace"
    parameter_name = "namespace"

    def lookups(self, request: HttpRequest, model_admin: ObjectAdmin) -> list[tuple[str, str]]:
        """Each namespace, and how it is shown."""
        objects = model_admin.get_queryset(request).order_by("namespace")
        counted = objects.values_list("namespace").annotate(Count("pk"))
        return [(namespace, f"{namespace} ({count})") for namespace, count in counted]

    def queryset(self, request: HttpRequest, queryset: Objects) -> Objects:
        """Those in the chosen namespace."""
        namespace = self.value()
        return queryset.filter(namespace=namespace) if namespace else queryset


class LabelFilter(SimpleListFilter):
    """Objects whose labels match a selector; a selector that cannot be read is explained."""

    title = "labels"
    parameter_name = "labels"
    template = "admin/objects/label_filter.html"

    def lookups(self, request: HttpRequest, model_admin: ObjectAdmin) -> list[tuple[str, str]]:
        """None: a selector is typed."""
        return []

    def has_output(self) -> bool:
        """Show it always."""
        return True

    def choices(self, changelist: ChangeList) -> Iterator[dict[str, Any]]:  # type: ignore[override]
        """What its template needs: the text, and the rest of the query."""
        params = changelist.get_filters_params()
        others = {k: v[-1] for k, v in params.items() if k != self.parameter_name}
        if changelist.query:
            others["q"] = changelist.query
        without = changelist.get_query_string(remove=[self.parameter_name])
        yield {"value": self.value() or "", "others": others, "without": without}

    def queryset(self, request: HttpRequest, queryset: Objects) -> Objects:
        """Those whose labels match."""
        text = self.value()
        if not text:
            return queryset
        try:
            selector = LabelSelector.parse(text)
            keys = door_of(request, queryset.model.kind).keys(selector)  # type: ignore[attr-defined]
        except StatusError as error:
            messages.error(request, f"Labels: {error.message}")
            return queryset.none()
        return queryset.filter(Among(F("key"), keys))
