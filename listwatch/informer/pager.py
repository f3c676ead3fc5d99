"""Lists in pages: one consistent list of whatever the server hands out piece by piece.

Used by `reflector`; anybody else may, too.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import NamedTuple

from listwatch.informer.errors import ExpiredError
from listwatch.informer.list_watch import ListPage, ListQuery
from listwatch.informer.objects import JSONObject

PAGE_SIZE = 500

ListFunction = Callable[[ListQuery], Awaitable[ListPage]]


class Listed(NamedTuple):
    """A whole list. Its resourceVersion is that of its first page."""

    items: list[JSONObject]
    resource_version: str
    pages: int
    kind: str = ""
    api_version: str = ""


async def pages(list_page: ListFunction, query: ListQuery) -> AsyncIterator[ListPage]:
    """The pages of a list, each asked for when the one before was taken.

    Only the first names a resourceVersion: the token pins it, and servers refuse both together.
    """
    page = await list_page(query)
    yield page
    while page.continue_token:
        query = replace(query, continue_token=page.continue_token, resource_version="")
        page = await list_page(query)
        yield page


async def list_all(
    list_page: ListFunction, query: ListQuery, *, full_list_if_expired: bool = True
) -> Listed:
    """All pages as one. If the token expires on the way, once more without pages.

    Expired on the first page is raised, as the resourceVersion is what has expired then.
    """
    items: list[JSONObject] = []
    first: ListPage | None = None
    count = 0
    try:
        async for page in pages(list_page, query):
            first = first or page
            items.extend(page.items)
            count += 1
    except ExpiredError:
        if first is None or not full_list_if_expired:
            raise
        first = await list_page(replace(query, limit=0, continue_token=""))
        items, count = first.items, 1
    assert first is not None
    return Listed(items, first.resource_version, count, first.kind, first.api_version)
