from __future__ import annotations

import re
from typing import Any

import pytest

from dashboard.objects.making import left_over, split
from tests.admin.visitor import Page
from tests.dashboard.objects.visitor import Visitor

CREATE = "/dashboard/create/"
TWO = """\
# two config maps
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: one
data:
  text: |
    --- not a separator
--- # and
apiVersion: v1
kind: ConfigMap
metadata:
  name: two
  namespace: shop
"""


class Form:
    """The page that makes objects."""

    def __init__(self, visitor: Visitor) -> None:
        self.visitor = visitor

    async def send(self, button: str, page: Page | None = None, **data: Any) -> Page:
        opened = page or Page(await self.visitor.client.get(CREATE))
        sent = {**opened.fields, "document": opened.document, **data, button: "1"}
        return Page(await self.visitor.client.post(CREATE, sent))


def test_documents_are_told_apart_with_their_lines() -> None:
    assert [line for line, _ in split(TWO)] == [3, 11]
    assert split("") == []
    assert split("---\n# nothing\n---\n") == []
    assert split("a: 1\n---\nb: 2\n") == [(1, "a: 1\n"), (3, "b: 2\n")]


async def test_many_documents_are_checked_and_then_made(visitor: Visitor) -> None:
    await visitor.make("namespaces", "", "shop")
    form = Form(visitor)
    checked = await form.send("_create", document=TWO)

    assert "The server would take all of it; nothing is made yet" in checked.text
    assert "would be created" in checked.text

    made = await form.send("_create", checked)

    assert made.text.count(" created ") == 2
    assert made.document == ""
    assert (await visitor.get("configmaps", "default", "one"))["data"]["text"].startswith("---")
    assert (await visitor.get("configmaps", "shop", "two"))["metadata"]["name"] == "two"


async def test_what_is_refused_stays_with_its_line(visitor: Visitor) -> None:
    text = TWO.replace("name: one", "name: one\nspec: 1") + "---\nkind: Widget\napiVersion: v9\n"
    page = await Form(visitor).send("_check", document=text)

    assert "Nothing is made" in page.text
    assert 'data-line="7"' in page.html  # spec, of the first
    assert 'namespaces "shop" not found' in page.text
    assert 'no matches for kind "Widget" in version "v9"' in page.text
    assert 'data-line="19"' in page.html  # the version, of the last
    assert page.document == text


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (
            "# one\n\napiVersion: v1\nkind: ConfigMapp\nmetadata: {name: a}\n",
            4,
            'no matches for kind "ConfigMapp" in version "v1"',
        ),
        ("kind: Pod\nmetadata: {name: a}\n", 1, "apiVersion not set"),
        (
            "# one\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  b: c\n  a: 1\n",
            7,
            "A number stands where string is wanted.",
        ),
        (
            (
                "apiVersion: v1\nkind: List\nitems:\n"
                "- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"
                "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: b}\n"
                "  data:\n    a: [1]\n"
            ),
            9,
            "An array stands where string is wanted.",
        ),
    ],
)
async def test_a_fault_stands_beside_its_own_line(
    visitor: Visitor, text: str, line: int, message: str
) -> None:
    page = await Form(visitor).send("_check", document=f"{text}")
    [fault] = re.findall(r'<p class="fault" data-line="(\d+)">', page.html)

    assert int(fault) == line
    assert message in page.text


async def test_a_second_press_makes_only_what_is_missing(visitor: Visitor) -> None:
    from asgiref.sync import sync_to_async

    from dashboard.objects.asker import Asker
    from dashboard.objects.making import make
    from listwatch.registry.context import SYSTEM

    asker = Asker(visitor.runtime, SYSTEM)
    outcomes = await sync_to_async(make, thread_sensitive=False)(asker, TWO, "", dry_run=False)

    assert [each.done for each in outcomes] == [True, False]
    rest = left_over(outcomes)
    assert "name: one" not in rest

    await visitor.make("namespaces", "", "shop")
    again = await sync_to_async(make, thread_sensitive=False)(asker, rest, "", dry_run=False)
    assert [each.done for each in again] == [True]


async def test_a_list_is_its_items(visitor: Visitor) -> None:
    items = "".join(
        f"- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: {name}\n" for name in "ab"
    )
    form = Form(visitor)
    checked = await form.send("_check", document=f"apiVersion: v1\nkind: List\nitems:\n{items}")
    await form.send("_create", checked)

    assert (await visitor.get("configmaps", "default", "b"))["metadata"]["name"] == "b"


async def test_making_is_for_those_whose_roles_allow_it(guest: Visitor) -> None:
    page = await Form(guest).send("_check", document=TWO)

    assert 'User "someone" cannot create resource "configmaps"' in page.text
