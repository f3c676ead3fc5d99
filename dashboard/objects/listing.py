"""One page of a kind's objects, as the query string says: place, selectors, order, where to go on.

Read by `views` for the page and by `live` for the table that follows its objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dashboard.objects.catalogue import find, list_url
from dashboard.objects.tables import TableOf, sorted_rows
from listwatch.protocol.continue_tokens import ContinueToken
from listwatch.protocol.errors import bad_request
from listwatch.protocol.options import ListOptions, parse_revision
from listwatch.watchcache.requests import ListRequest

if TYPE_CHECKING:
    from dashboard.objects.asker import Asker
    from listwatch.protocol.kinds import Resource
    from listwatch.registry.resources import ResourceTable

JSON = dict[str, Any]  # Any: JSON values

ROWS = 250  # on one page


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which objects a page shows: read from its address, or from what its socket asks for."""

    resource: Resource
    namespace: str = ""
    labels: str = ""
    fields: str = ""
    sort: str = ""
    after: str = ""  # the continue token of the page before
    at: str = ""  # a revision: the list as it was, as long as ring or log have it

    @classmethod
    def read(cls, resources: ResourceTable, name: str, query: Mapping[str, Any]) -> Wanted:
        """Read a query; raises 400, 404."""
        given = {
            key: str(query.get(key, "") or "").strip()
            for key in ("namespace", "labels", "fields", "sort", "after", "at")
        }
        resource = find(resources, name, str(query.get("version", "") or ""))
        if given["namespace"] and not resource.namespaced:
            raise bad_request(f"{resource.resource} stand in no namespace")
        return cls(resource, **given)

    def options(self) -> ListOptions:
        """The options of the same list at the API; raises 400."""
        query = {"limit": [str(ROWS)]}
        for field, parameter in (
            (self.labels, "labelSelector"),
            (self.fields, "fieldSelector"),
            (self.after, "continue"),
        ):
            if field:
                query[parameter] = [field]
        if self.at:
            query |= {"resourceVersion": [self.at], "resourceVersionMatch": ["Exact"]}
        return ListOptions.from_query(query)

    @property
    def query(self) -> str:
        """What the page's socket asks for, so that it follows the same objects."""
        return self.url().partition("?")[2]

    def url(self, **other: str) -> str:
        """The address of this page with something else."""
        given = {
            "namespace": self.namespace, "labels": self.labels, "fields": self.fields,
            "sort": self.sort, "at": self.at, **other,
        }  # fmt: skip
        return list_url(self.resource, **given)

    @property
    def live(self) -> bool:
        """Whether the page follows its objects: a later page, and an old state, stand still."""
        return not self.after and not self.at


@dataclass(frozen=True, slots=True)
class Listed:
    """The rows of one page, and the state that they are of."""

    table: TableOf
    rows: list[JSON]
    revision: int
    token: str  # of the next page, '' if this is the last
    last_key: str  # what comes behind it is on another page; '' if this is the last
    remaining: int | None


async def listed(asker: Asker, wanted: Wanted) -> Listed:
    """List; raises 400, 403, 410."""
    resource = wanted.resource
    asker.require("list", resource, wanted.namespace)
    ctx = asker.context(resource, wanted.namespace)
    _reached(asker, wanted.at)
    options = wanted.options()
    found = await asker.runtime.registry.list(ctx, options)
    table = TableOf(resource, asker.runtime.clock)
    _sortable(table, wanted.sort)
    rows = [table.row_of(version) for version in found.versions]
    last = found.versions[-1].key if found.versions and found.next_key else ""
    token = ""
    if found.next_key is not None:
        token = ContinueToken.after(found.next_key, wanted.namespace, found.revision).encode()
    return Listed(
        table,
        sorted_rows(rows, wanted.sort),
        found.revision,
        token,
        last,
        found.remaining,
    )


def _reached(asker: Asker, at: str) -> None:
    """Nothing, or 400: a page waits for no revision that nobody has written yet."""
    newest = asker.runtime.caches.progress.applied
    if at and parse_revision(at, prefix="at: ") > newest:
        raise bad_request(f"at: revision {at} is not reached yet: the newest is {newest}")


def _sortable(table: TableOf, sort: str) -> None:
    """Nothing, or 400 with what can be sorted by."""
    place = ["namespace"] if table.resource.namespaced else []
    known = [*place, "name", *(column["field"] for column in table.columns)]
    if sort and sort.removeprefix("-") not in known:
        raise bad_request(
            f'sort: there is no column "{sort.removeprefix("-")}": it can be '
            f"{', '.join(known)}, each with - before it to turn it round"
        )


def namespaces_of(asker: Asker, resource: Resource, chosen: str = "") -> list[str]:
    """The namespaces that can be chosen: those that have such objects and may be listed.

    The one that is `chosen` is among them even if there is none of that name: a page says which
    list it shows.
    """
    if not resource.namespaced:
        return []
    names = {chosen} - {""}
    if not asker.may("list", resource):
        return sorted(names.union(asker.places("list", resource)))
    found = asker.runtime.caches.cacher(resource.storage).list(ListRequest())
    return sorted(names.union(asker.namespaces(), (each.namespace for each in found.versions)))
