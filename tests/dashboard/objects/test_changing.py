from __future__ import annotations

import pytest

from listwatch.protocol.options import DeleteOptions
from tests.dashboard.objects.visitor import Visitor

FORM = "configmaps/default/a/?view=edit"


async def changed(visitor: Visitor, *, old: str = '"1"', new: str = '"2"') -> str:
    return (await visitor.open(FORM)).document.replace(old, new)


async def value(visitor: Visitor) -> str:
    document = await visitor.get("configmaps", "default", "a")
    return str(document["data"]["k"])


async def test_a_change_is_looked_at_before_it_is_made(visitor: Visitor) -> None:
    await visitor.make("configmaps", "default", "a", data={"k": "1"})
    text = await changed(visitor)
    checked = await visitor.press(FORM, await visitor.open(FORM), "_check", document=text)

    assert checked.code == 200
    assert "nothing is saved yet" in checked.text
    assert '<del> k: "1"</del>' in checked.html.replace("&quot;", '"').replace("  k", " k")
    assert await value(visitor) == "1"

    saved = await visitor.press(FORM, checked, "_save", document=checked.document)

    assert saved.code == 302
    assert "?saved=" in saved.location
    assert await value(visitor) == "2"
    managers = (await visitor.get("configmaps", "default", "a"))["metadata"]["managedFields"]
    assert "listwatch-dashboard" in {each["manager"] for each in managers}


async def test_a_text_that_was_not_looked_at_is_checked_instead(visitor: Visitor) -> None:
    await visitor.make("configmaps", "default", "a", data={"k": "1"})
    text = await changed(visitor)
    page = await visitor.press(FORM, await visitor.open(FORM), "_save", document=text)

    assert "nothing is saved yet" in page.text
    assert await value(visitor) == "1"

    other = await visitor.press(FORM, page, "_save", document=text.replace('"2"', '"3"'))

    assert "nothing is saved yet" in other.text
    assert await value(visitor) == "1"


async def test_a_conflict_shows_both_changes_and_loses_nothing(visitor: Visitor) -> None:
    await visitor.make("configmaps", "default", "a", data={"k": "1"})
    page = await visitor.open(FORM)
    mine = page.document.replace('"1"', "mine")
    await visitor.patch("configmaps", "default", "a", {"data": {"other": "theirs"}})
    stale = await visitor.press(FORM, page, "_check", document=mine)

    assert stale.code == 409
    assert "the object has moved on" in stale.text
    assert "other: theirs" in stale.text
    assert "k: mine" in stale.text
    assert stale.document == mine

    merged = await visitor.press(FORM, stale, "_merge", document=mine)
    assert "other: theirs" in merged.document
    assert "k: mine" in merged.document

    checked = await visitor.press(FORM, merged, "_check", document=merged.document)
    await visitor.press(FORM, checked, "_save", document=checked.document)
    found = await visitor.get("configmaps", "default", "a")
    assert found["data"] == {"k": "mine", "other": "theirs"}


async def test_an_object_that_went_away_meanwhile_can_be_made_again(visitor: Visitor) -> None:
    await visitor.make("configmaps", "default", "a", data={"k": "1"})
    page = await visitor.open(FORM)
    ctx = visitor.context("configmaps", "default", "a")
    await visitor.runtime.registry.delete(ctx, DeleteOptions())
    stale = await visitor.press(FORM, page, "_check", document=page.document)

    assert "the object is gone" in stale.text
    again = await visitor.press(FORM, stale, "_recreate", document=stale.document)
    assert again.code == 302
    assert await value(visitor) == "1"


async def test_an_object_that_was_made_anew_is_told_as_another(visitor: Visitor) -> None:
    await visitor.make("configmaps", "default", "a", data={"k": "1"})
    page = await visitor.open(FORM)
    delete = "configmaps/default/a/?view=delete"
    asked = await visitor.open(delete)
    ctx = visitor.context("configmaps", "default", "a")
    await visitor.runtime.registry.delete(ctx, DeleteOptions())
    await visitor.make("configmaps", "default", "a", data={"k": "2"})
    stale = await visitor.press(FORM, page, "_check", document=page.document)
    kept = await visitor.press(delete, asked, "_delete")

    assert "Not saved: it is another object now" in stale.text
    assert "Not deleted: it is another object now" in kept.text
    assert await value(visitor) == "2"
    revision = (await visitor.get("configmaps", "default", "a"))["metadata"]["resourceVersion"]
    done = await visitor.press(FORM, stale, f"_overwrite={revision}", document=page.document)
    assert done.code == 302
    assert await value(visitor) == "1"


@pytest.mark.parametrize(
    ("old", "new", "line", "field"),
    [
        ("data:", "date:", 2, "date"),
        ('k: "1"', "k: [", 5, ""),
        ('k: "1"', "k: {a: b}", 3, "data"),
    ],
)
async def test_a_fault_names_its_line(
    visitor: Visitor, old: str, new: str, line: int, field: str
) -> None:
    await visitor.make("configmaps", "default", "a", data={"k": "1"})
    text = await changed(visitor, old=old, new=new)
    page = await visitor.press(FORM, await visitor.open(FORM), "_check", document=text)

    assert 400 <= page.code < 500
    assert f'data-line="{line}"' in page.html
    assert field in page.text
    assert page.document == text


async def test_writing_is_for_those_whose_roles_allow_it(guest: Visitor) -> None:
    await guest.make("configmaps", "default", "a", data={"k": "1"})
    await guest.allow("get", "configmaps", "default")
    text = await changed(guest)
    refused = await guest.press(FORM, await guest.open(FORM), "_check", document=text)

    assert refused.code == 403
    assert 'User "someone" cannot update resource "configmaps"' in refused.text
    assert refused.document == text

    delete = "configmaps/default/a/?view=delete"
    refused = await guest.press(delete, await guest.open(delete), "_delete")
    assert refused.code == 403
    assert await value(guest) == "1"


async def test_a_deletion_takes_policy_and_grace_and_sees_a_change(visitor: Visitor) -> None:
    spec = {"containers": [{"name": "main", "image": "app:1"}], "nodeName": "n1"}
    await visitor.make("pods", "default", "web", spec=spec)
    path = "pods/default/web/?view=delete"
    page = await visitor.open(path)
    await visitor.patch("pods", "default", "web", {"metadata": {"labels": {"a": "b"}}})
    moved = await visitor.press(path, page, "_delete", policy="Orphan", grace="7")

    assert moved.code == 409
    assert "Not deleted: the object has moved on" in moved.text
    assert moved.fields["policy"] == "Orphan"

    answer = await visitor.press(path, moved, "_delete", policy="Foreground", grace="7")

    assert answer.location == "/dashboard/objects/pods/default/web/"
    metadata = (await visitor.get("pods", "default", "web"))["metadata"]
    assert metadata["deletionGracePeriodSeconds"] == 7
    bad = await visitor.press(path, await visitor.open(path), "_delete", grace="-1")
    assert bad.code == 200
    assert 'aria-invalid="true"' in bad.html
