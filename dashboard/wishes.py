"""What a person asks to watch: the attach form, read and checked as the API checks a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dashboard import commands
from listwatch.api.converted import ConvertedRepresentation
from listwatch.api.partial import PartialRepresentation
from listwatch.api.tables import TableForm, TableRepresentation
from listwatch.protocol.errors import bad_request, resource_not_found
from listwatch.protocol.options import ListOptions
from listwatch.protocol.representations import JSONRepresentation
from listwatch.registry.conversions import converts

if TYPE_CHECKING:
    from listwatch.protocol.clock import Clock
    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.representations import Representation
    from listwatch.registry.resources import ResourceTable

Form = Mapping[str, Any]  # Any: JSON values

STARTS = (
    ("state", "the state, then changes"),
    ("any", "0: any state, then changes"),
    ("now", "now"),
    ("oldest", "the oldest in the ring"),
    ("revision", "a revision"),
)
FORMS = (("full", "whole objects"), ("table", "a Table"), ("metadata", "metadata alone"))
# With these a stream begins with objects, and may say by a bookmark where they end.
_WITH_STATE = frozenset({"state", "any", "revision"})


@dataclass(frozen=True, slots=True)
class Wish:
    """What to watch."""

    resource: Resource
    namespace: str
    options: ListOptions
    form: str  # one of FORMS
    command: str  # of kubectl, for the same watch

    @classmethod
    def read(cls, form: Form, resources: ResourceTable, applied: int, oldest: int = 0) -> Wish:
        """Read the form's fields; raises StatusError for what the API would refuse.

        `resource` is `v1/pods` or `apps/v1/deployments`; `from` is one of STARTS, with the number
        in `revision`; `streaming` (by default for `state` alone) asks for the state as a streaming
        list; `as` is one of FORMS.
        """
        resource = resource_of(form, resources)
        namespace = str(form.get("namespace", "")).strip()
        if namespace and not resource.namespaced:
            raise bad_request(f"{resource.resource} stand in no namespace")
        query = query_of(form, applied, oldest)
        options = ListOptions.from_query({name: [value] for name, value in query.items()})
        written_as = str(form.get("as") or "full")
        if written_as not in dict(FORMS):
            raise bad_request(f'there is no form "{written_as}" to watch in')
        return cls(resource, namespace, options, written_as, commands.watch(resource, form))

    def representation(self, clock: Clock) -> Representation:
        """How its frames are written, as the API would negotiate."""
        resource = self.resource
        if self.form == "table":
            return TableRepresentation(TableForm(resource, clock))
        if self.form == "metadata":
            return PartialRepresentation("v1")
        if converts(resource):
            return ConvertedRepresentation(resource)
        return JSONRepresentation(resource.kind, resource.api_version)


def resource_of(form: Form, resources: ResourceTable) -> Resource:
    """The resource that a form names; raises 404 for one that cannot be watched."""
    path, _, name = str(form.get("resource", "")).rpartition("/")
    group, _, version = path.rpartition("/")
    resource = resources.find(group, version, name)
    if resource is None or "watch" not in resource.verbs:
        raise resource_not_found()
    return resource


def query_of(form: Form, applied: int, oldest: int = 0) -> dict[str, str]:
    """The query of the same watch at the API."""
    query = {"watch": "true"}
    for field, parameter in (("labels", "labelSelector"), ("fields", "fieldSelector")):
        if text := str(form.get(field, "")).strip():
            query[parameter] = text
    if form.get("bookmarks"):
        query["allowWatchBookmarks"] = "true"
    start = str(form.get("from") or "state")
    match start:
        case "any":
            query["resourceVersion"] = "0"
        case "now":
            query["resourceVersion"] = str(applied)
        case "oldest":
            query["resourceVersion"] = str(oldest)
        case "revision":
            query["resourceVersion"] = str(form.get("revision", "")).strip()
    streaming = form.get("streaming", "true" if start == "state" else "")
    if str(streaming) == "true" and start in _WITH_STATE:
        query |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
    return query
