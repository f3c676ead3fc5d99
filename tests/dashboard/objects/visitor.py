"""A person at the pages of objects: opens them, fills in forms, presses buttons."""

from __future__ import annotations

import json
from typing import Any

from tests.admin import visitor
from tests.admin.visitor import Page

RBAC = "rbac.authorization.k8s.io"
PAGES = "/dashboard/objects/"


class Visitor(visitor.Visitor):
    """A browser at the dashboard of a runtime, which others can write to as well."""

    async def open(self, path: str) -> Page:
        return Page(await self.client.get(PAGES + path))

    async def json(self, path: str, code: int = 200) -> Any:
        response = await self.client.get(path if path.startswith("/") else PAGES + path)

        assert response.status_code == code, response.content
        return json.loads(response.content)

    async def press(self, path: str, page: Page, button: str, **data: str) -> Page:
        name, _, value = button.partition("=")
        sent = {**page.fields, **data, name: value or "1"}
        return Page(await self.client.post(PAGES + path, sent))

    async def allow(self, verbs: str, resources: str, namespace: str = "") -> None:
        """Give a role to the visitor: everywhere, or in one namespace."""
        where = "" if namespace else "cluster"
        name = f"may-{verbs}-{resources}-{namespace or 'everywhere'}".replace(",", "-")
        groups = sorted({r.group for r in self.runtime.resources.served()})
        rule = {"apiGroups": groups, "resources": resources.split(","), "verbs": verbs.split(",")}
        await self.make(f"{where}roles", namespace, name, rules=[rule])
        kind = f"{where.title()}Role"
        reference = {"apiGroup": RBAC, "kind": kind, "name": name}
        subject = {
            "apiGroup": RBAC,
            "kind": "User",
            "name": "someone",
        }
        await self.make(
            f"{where}rolebindings", namespace, name, roleRef=reference, subjects=[subject]
        )
