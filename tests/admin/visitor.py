"""A person at the admin: opens pages, fills in forms, presses buttons."""

from __future__ import annotations

import html
import re
from typing import Any

from django.test import AsyncClient

from listwatch.protocol.objects import JSONObject
from listwatch.registry.context import SYSTEM, RequestContext, Written
from listwatch.runtime import Runtime

_DOCUMENT = re.compile(r'<textarea name="document"[^>]*>\r?\n?(.*?)</textarea>', re.DOTALL)


class Page:
    """One answer."""

    def __init__(self, response: Any) -> None:  # Any: what the test client makes of an answer
        self.code = response.status_code
        self.location = response.headers.get("Location", "")
        self.html = response.content.decode()
        self.context: Any = getattr(response, "context", None)

    @property
    def text(self) -> str:
        """What a person reads, on one line."""
        bare = re.sub(r"<(script|style).*?</\1>|<[^>]+>", " ", self.html, flags=re.DOTALL)
        return " ".join(html.unescape(bare).split())

    @property
    def fields(self) -> dict[str, str]:
        """What its form would send if nothing was changed, but the text of the object."""
        found = {}
        for tag in re.findall(r"<input [^>]*>", self.html):
            kind, name, value = (_attribute(tag, a) for a in ("type", "name", "value"))
            if name and (kind == "hidden" or (kind == "radio" and "checked" in tag)):
                found[name] = value
        return found

    @property
    def document(self) -> str:
        """The text in the editor."""
        found = _DOCUMENT.search(self.html)
        assert found, self.text
        return html.unescape(found[1])


def _attribute(tag: str, name: str) -> str:
    found = re.search(rf'\b{name}="([^"]*)"', tag)
    return html.unescape(found[1]) if found else ""


class Client(AsyncClient):
    """Requests as the server of a runtime makes them."""

    def __init__(self, runtime: Runtime) -> None:
        super().__init__()
        self.runtime = runtime

    def _base_scope(self, **request: Any) -> Any:
        scope: dict[str, Any] = super()._base_scope(**request)  # type: ignore[misc]
        return {**scope, "listwatch.runtime": self.runtime}


class Visitor:
    """A browser at the admin of a runtime, which others can write to as well."""

    def __init__(self, client: AsyncClient, runtime: Runtime) -> None:
        self.client = client
        self.runtime = runtime

    async def open(self, path: str) -> Page:
        return Page(await self.client.get(f"/admin/objects/{path}"))

    async def press(self, path: str, page: Page, button: str, **data: str) -> Page:
        """Send the form of a page by one of its buttons, with what was typed."""
        name, _, value = button.partition("=")
        sent = {**page.fields, **data, name: value or "1"}
        return Page(await self.client.post(f"/admin/objects/{path}", sent))

    async def write(self, path: str, text: str, button: str = "_save") -> Page:
        """Open a form, replace its text, press a button."""
        return await self.press(path, await self.open(path), button, document=text)

    # What others do

    def context(
        self, resource: str, namespace: str = "", name: str = "", **more: Any
    ) -> RequestContext:
        found = next(r for r in self.runtime.resources.served() if r.resource == resource)
        return RequestContext(SYSTEM, found, namespace=namespace, name=name, **more)

    async def make(self, resource: str, namespace: str, name: str, **rest: Any) -> Written:
        metadata = {"name": name, **rest.pop("metadata", {})}
        ctx = self.context(resource, namespace)
        return await self.runtime.registry.create(ctx, {"metadata": metadata, **rest})

    async def get(self, resource: str, namespace: str, name: str) -> JSONObject:
        version = await self.runtime.registry.get(self.context(resource, namespace, name))
        return version.decode()

    async def patch(self, resource: str, namespace: str, name: str, patch: Any) -> None:
        ctx = self.context(resource, namespace, name)
        await self.runtime.registry.patch(ctx, "application/merge-patch+json", patch)
