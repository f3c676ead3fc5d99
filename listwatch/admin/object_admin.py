"""The admin of one kind: its list from the store's tables, its forms through the registry."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.admin.options import get_content_type_for_model
from django.contrib.admin.utils import unquote
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from listwatch.admin import deleting, history
from listwatch.admin.doors import door_of
from listwatch.admin.filters import LabelFilter, NamespaceFilter
from listwatch.admin.rows import cells_of, labels_of
from listwatch.editing.form import Editing, Page, Saved, context_of
from listwatch.protocol.errors import StatusError
from listwatch.protocol.kinds import Column, Resource
from listwatch.store.models import StoredObject

Objects = QuerySet[StoredObject]
Extra = dict[str, Any] | None  # Any: what a template may be given


if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[StoredObject]
else:
    _ModelAdmin = admin.ModelAdmin


class ObjectList(ChangeList):
    """The list, whose links name objects as Kubernetes does: by namespace and name."""

    def url_for_result(self, result: StoredObject) -> str:  # type: ignore[override]
        """The page of an object."""
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_change",
                       args=[result.key], current_app=self.model_admin.admin_site.name)  # fmt: skip


class ObjectAdmin(_ModelAdmin):
    """Lists, forms, deletion and history of one kind; who may is said by Django's permissions."""

    resource: ClassVar[Resource]
    list_per_page = 100
    search_fields = ("name", "namespace")
    search_help_text = ""
    ordering = ("key",)
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    actions = ("delete_chosen",)
    change_list_template = "admin/objects/change_list.html"

    # The list

    def get_list_display(
        self, request: HttpRequest
    ) -> list[str | Callable[[StoredObject], str | bool]]:
        """Name and namespace, kubectl's columns, labels."""
        place = ["namespace"] if self.resource.namespaced else []
        return ["name", *place, *map(_cell, self._columns()), _labels]

    def _columns(self) -> list[tuple[int, Column]]:
        columns = enumerate(self.resource.columns)
        return [(i, c) for i, c in columns if c.name != "Name" and not c.priority]

    def changelist_view(self, request: HttpRequest, extra_context: Extra = None) -> HttpResponse:
        """The list, named as its kind is."""
        ours = {
            "title": self.opts.verbose_name_plural,
            "namespace": request.GET.get("namespace", ""),
        }
        return super().changelist_view(request, {**ours, **(extra_context or {})})

    def get_list_filter(self, request: HttpRequest) -> list[Any]:
        """By namespace, where there are such, and by labels."""
        return [NamespaceFilter, LabelFilter] if self.resource.namespaced else [LabelFilter]

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """Our own."""
        return ObjectList

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Ours; Django's own deletion would write past the registry."""
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)
        if not self.has_delete_permission(request):
            actions.pop("delete_chosen", None)
        return actions

    @admin.action(description="Delete selected objects", permissions=["delete"])
    def delete_chosen(self, request: HttpRequest, queryset: Objects) -> HttpResponse | None:
        """Ask how, then delete one by one."""
        return deleting.delete_chosen(self, request, queryset)

    # Forms

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Extra = None
    ) -> HttpResponse:
        """The form of a new object."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        return self._edit(request, "")

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Extra = None
    ) -> HttpResponse:
        """The form of an object; who may only look gets it without buttons."""
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        if request.method == "POST" and not self.has_change_permission(request):
            raise PermissionDenied
        return self._edit(request, self.key_of(object_id))

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: Extra = None
    ) -> HttpResponse:
        """Ask how, then delete."""
        if not self.has_delete_permission(request):
            raise PermissionDenied
        return deleting.delete_view(self, request, self.key_of(object_id))

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: Extra = None
    ) -> HttpResponse:
        """What the log still has of the object."""
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        return history.history_view(self, request, self.key_of(object_id))

    def key_of(self, object_id: str) -> str:
        """The key that a part of a URL names; Django's own links quote the slash."""
        quoted = self.resource.namespaced and "/" not in object_id
        return unquote(object_id) if quoted else object_id

    def _edit(self, request: HttpRequest, key: str) -> HttpResponse:
        status_only = "status" in request.GET
        try:
            door = door_of(request, self.resource)
            editing = Editing(door, self.resource, key, status_only=status_only)
            if request.method != "POST":
                page: Page | Saved = editing.open(request.GET.get("namespace", ""))
            else:
                page = editing.submit(request.POST)
        except StatusError as error:
            return self.refused(request, error, key)
        if "application/json" in request.headers.get("accept", "") and isinstance(page, Page):
            faults = [
                fault._asdict() for fault in page.faults
            ]  # what the editor asks while one types
            return JsonResponse({"faults": faults, "stale": page.stale is not None})
        if isinstance(page, Saved):
            return self._saved(request, page, new=not key)
        title = f"Status of {key}" if status_only else key or f"New {self.resource.kind}"
        context = {**context_of(page), "status_only": status_only, "title": title}
        return self.page(request, "object_form", key, context, page.code)

    def _saved(self, request: HttpRequest, saved: Saved, *, new: bool) -> HttpResponse:
        name = f"{self.resource.kind} {saved.key}"
        if saved.changed:
            self.log(request, saved.key, ADDITION if new else CHANGE, f"revision {saved.revision}")
            done = "created" if new else "saved"
            messages.success(request, f"{name} was {done} as revision {saved.revision}.")
        else:
            messages.info(request, f"{name} is as it was: there was nothing to save.")
        for warning in saved.warnings:
            messages.warning(request, warning)
        if "_continue" in request.POST:
            query = "?status" if "status" in request.GET else ""
            return HttpResponseRedirect(self.url("change", saved.key) + query)
        return HttpResponseRedirect(self.url("changelist"))

    # What the pages have in common

    def page(
        self, request: HttpRequest, name: str, key: str, context: dict[str, Any],
        code: HTTPStatus = HTTPStatus.OK,
    ) -> HttpResponse:  # fmt: skip
        """One of our pages; `key` is '' for what is not about one object."""
        known = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "resource": self.resource,
            "key": key,
            "has_add_permission": self.has_add_permission(request),
            "has_change_permission": self.has_change_permission(request),
            "has_delete_permission": self.has_delete_permission(request),
            "has_view_permission": self.has_view_permission(request),
        }
        template = f"admin/objects/{name}.html"
        return TemplateResponse(request, template, {**known, **context}, status=code)

    def refused(self, request: HttpRequest, error: StatusError, key: str) -> HttpResponse:
        """Back to the list if there is no such object; else a page with what the registry said."""
        if error.code != HTTPStatus.NOT_FOUND:
            context = {"title": "This cannot be done now", "message": error.message}
            return self.page(request, "refused", "", context, HTTPStatus(error.code))
        messages.warning(request, f"There is no {self.resource.kind} {key}.")
        return HttpResponseRedirect(self.url("changelist"))

    def url(self, name: str, *arguments: str) -> str:
        """The address of one of this kind's pages."""
        return reverse(
            f"admin:{self.opts.app_label}_{self.opts.model_name}_{name}",
            args=arguments,
            current_app=self.admin_site.name,
        )

    def log(self, request: HttpRequest, key: str, flag: int, message: str) -> None:
        """Note in Django's own log who did what."""
        LogEntry.objects.create(
            user_id=str(request.user.pk),
            content_type=get_content_type_for_model(self.model),
            object_id=key,
            object_repr=key[:200],
            action_flag=flag,
            change_message=message,
        )

    def log_deleted(self, request: HttpRequest, key: str) -> None:
        """Note a deletion."""
        self.log(request, key, DELETION, "")

    # Permissions: Django's, as far as the resource has the verb

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Whether the user may create such objects."""
        return "create" in self.resource.verbs and super().has_add_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether the user may change such objects."""
        return "update" in self.resource.verbs and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether the user may delete such objects."""
        return "delete" in self.resource.verbs and super().has_delete_permission(request, obj)


def _cell(place: tuple[int, Column]) -> Callable[[StoredObject], str]:
    index, column = place

    def cell(stored: StoredObject) -> str:
        return str(cells_of(stored)[index])

    cell.__name__ = f"column_{index}"
    cell.short_description = column.name  # type: ignore[attr-defined]
    return cell


@admin.display(description="Labels", empty_value="")
def _labels(stored: StoredObject) -> SafeString:
    """Each label a link to all objects that have it."""
    return format_html(
        '<span class="labels">{}</span>',
        format_html_join(
            "",
            '<a href="?labels={}">{}</a>',
            ((f"{key}%3D{value}", f"{key}={value}") for key, value in labels_of(stored).items()),
        ),
    )
