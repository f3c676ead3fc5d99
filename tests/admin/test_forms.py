"""Create and edit: what is saved, what is refused, and what happens when somebody was quicker."""

from __future__ import annotations

import pytest

from listwatch.protocol.errors import StatusError
from listwatch.protocol.options import DeleteOptions
from tests.admin.visitor import Visitor

MAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
data:
  k: "1"
"""
FORM = "configmap/default/a/change/"


async def make(visitor: Visitor, **data: str) -> None:
    await visitor.make("configmaps", "default", "a", data=data)


async def data_of(visitor: Visitor) -> dict[str, str]:
    document = await visitor.get("configmaps", "default", "a")
    return dict(document["data"])


async def test_an_object_is_created_from_its_text(visitor: Visitor) -> None:
    page = await visitor.write("configmap/add/", MAP)

    assert (page.code, page.location) == (302, "/admin/objects/configmap/")
    assert await data_of(visitor) == {"k": "1"}


async def test_a_new_form_begins_with_an_example_in_the_namespace_that_was_shown(
    visitor: Visitor,
) -> None:
    page = await visitor.open("deployment/add/?namespace=shop")

    assert "namespace: shop" in page.document
    assert "containers:" in page.document


async def test_what_is_created_can_be_checked_before(visitor: Visitor) -> None:
    page = await visitor.write("configmap/add/", MAP, "_check")

    assert page.code == 200
    assert "The server would take this; nothing was saved" in page.text
    assert page.document == MAP
    with pytest.raises(StatusError):
        await data_of(visitor)


async def test_an_object_is_changed_by_its_text(visitor: Visitor) -> None:
    await make(visitor, k="1")
    before = await visitor.open(FORM)

    page = await visitor.press(
        FORM, before, "_continue", document=before.document.replace('"1"', '"2"')
    )
    after = await visitor.open(FORM)

    assert (page.code, page.location) == (302, f"/admin/objects/{FORM}")
    assert await data_of(visitor) == {"k": "2"}
    assert "ConfigMap default/a was saved as revision" in after.text


async def test_browsers_line_ends_do_not_get_into_objects(visitor: Visitor) -> None:
    await make(visitor, k="1")

    await visitor.write(FORM, MAP.replace('"1"', "|\n    one\n    two").replace("\n", "\r\n"))

    assert await data_of(visitor) == {"k": "one\ntwo\n"}


async def test_a_form_that_changes_nothing_writes_nothing(visitor: Visitor) -> None:
    await make(visitor, k="1")
    before = await visitor.get("configmaps", "default", "a")
    form = await visitor.open(FORM)

    await visitor.press(FORM, form, "_continue", document=form.document)
    after = await visitor.open(FORM)

    assert "there was nothing to save" in after.text
    assert await visitor.get("configmaps", "default", "a") == before


async def test_checking_shows_what_saving_would_change(visitor: Visitor) -> None:
    await make(visitor, k="1")
    form = await visitor.open(FORM)

    page = await visitor.press(FORM, form, "_check", document=form.document.replace('"1"', '"2"'))

    assert [(line.sign, line.text) for line in page.context["checked"] if line.sign.strip()] == [
        ("-", '  k: "1"'),
        ("+", '  k: "2"'),
    ]
    assert await data_of(visitor) == {"k": "1"}


async def test_every_fault_is_shown_beside_its_line(visitor: Visitor) -> None:
    text = MAP.replace("name: a", "name: A_").replace('k: "1"', 'a/b: "1"\n  "": "2"')

    page = await visitor.write("configmap/add/", text)

    assert page.code == 422
    assert page.document == text
    assert [(fault.line, fault.field) for fault in page.context["faults"]] == [
        (4, "metadata.name"),
        (6, "data[a/b]"),
        (7, "data[]"),
    ]
    assert "line 6" in page.text


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (MAP + "frob: 1\n", 7, "There is no such field."),
        (MAP.replace("\ndata:", "\nkind: ConfigMap\ndata:"), 5, "This field is given twice."),
        (MAP.replace('"1"', "1"), 6, "A number stands where string is wanted."),
        (MAP + "  : :\n:", 7, ""),
        ("", 0, "There is nothing in the text."),
    ],
)
async def test_a_text_that_is_no_such_object_is_explained(
    visitor: Visitor, text: str, line: int, said: str
) -> None:
    page = await visitor.write("configmap/add/", text)

    assert page.code in (400, 422)
    assert page.context["faults"][0].line == line
    assert said in page.text
    assert page.document == text


async def test_another_kind_in_the_text_is_refused(visitor: Visitor) -> None:
    page = await visitor.write("configmap/add/", MAP.replace("ConfigMap", "Secret"))

    assert page.code == 400
    assert "cannot be handled as a ConfigMap" in page.text


async def test_another_name_in_the_text_is_refused(visitor: Visitor) -> None:
    await make(visitor, k="1")

    page = await visitor.write(FORM, MAP.replace("name: a", "name: b"))

    assert page.code == 400
    assert await data_of(visitor) == {"k": "1"}


async def test_a_text_that_is_too_long_for_its_kind_is_refused_and_kept(visitor: Visitor) -> None:
    text = MAP.replace('"1"', "x" * 2_700_000)

    page = await visitor.write("configmap/add/", text)

    assert page.code in (413, 422)
    assert page.document == text


# Somebody else was quicker


async def test_a_stale_form_is_refused_and_the_text_is_kept(visitor: Visitor) -> None:
    await make(visitor, k="1", l="1")
    form = await visitor.open(FORM)
    text = form.document.replace('k: "1"', 'k: "mine"')
    await visitor.patch("configmaps", "default", "a", {"data": {"l": "theirs"}})

    page = await visitor.press(FORM, form, "_save", document=text)
    again = await visitor.press(FORM, page, "_save", document=page.document)

    for refused in (page, again):
        assert refused.code == 409
        assert refused.document == text
        assert "the object has moved on" in refused.text
        theirs = [line.text for line in refused.context["stale"].theirs if line.sign == "+"]
        mine = [line.text for line in refused.context["stale"].mine if line.sign == "+"]
        assert (theirs, mine) == (["  l: theirs"], ['  k: "mine"'])
    assert await data_of(visitor) == {"k": "1", "l": "theirs"}


async def test_an_object_that_was_made_anew_is_told_as_another(visitor: Visitor) -> None:
    await make(visitor, k="1")
    form = await visitor.open(FORM)
    asked = await visitor.open("configmap/default/a/delete/")
    ctx = visitor.context("configmaps", "default", "a")
    await visitor.runtime.registry.delete(ctx, DeleteOptions())
    await make(visitor, k="theirs")
    stale = await visitor.press(FORM, form, "_save", document=form.document)
    kept = await visitor.press("configmap/default/a/delete/", asked, "sure")

    assert "Not saved: it is another object now" in stale.text
    assert "another was created under its name" in stale.text
    assert "Not deleted: it is another object now" in kept.text
    button = f"_overwrite={stale.context['stale'].revision}"
    saved = await visitor.press(FORM, stale, button, document=stale.document)
    assert saved.code == 302
    assert await data_of(visitor) == {"k": "1"}


async def test_both_changes_can_be_put_into_one_text_and_saved(visitor: Visitor) -> None:
    await make(visitor, k="1", l="1")
    form = await visitor.open(FORM)
    await visitor.patch("configmaps", "default", "a", {"data": {"l": "theirs"}})
    text = form.document.replace('k: "1"', "k: mine")

    page = await visitor.press(FORM, form, "_save", document=text)
    merged = await visitor.press(FORM, page, "_merge", document=page.document)
    saved = await visitor.press(FORM, merged, "_save", document=merged.document)

    assert merged.code == 200
    assert "You and the others had changed different places." in merged.text
    assert saved.code == 302
    assert await data_of(visitor) == {"k": "mine", "l": "theirs"}


async def test_a_place_that_both_changed_is_named(visitor: Visitor) -> None:
    await make(visitor, k="1")
    form = await visitor.open(FORM)
    await visitor.patch("configmaps", "default", "a", {"data": {"k": "theirs"}})

    merged = await visitor.press(
        FORM, form, "_merge", document=form.document.replace('k: "1"', "k: mine")
    )

    assert merged.context["merged"] == ["data.k"]
    assert "k: mine" in merged.document


async def test_mine_can_replace_theirs_but_only_what_was_shown(visitor: Visitor) -> None:
    await make(visitor, k="1", l="1")
    form = await visitor.open(FORM)
    text = form.document.replace('k: "1"', "k: mine")
    await visitor.patch("configmaps", "default", "a", {"data": {"l": "theirs"}})

    page = await visitor.press(FORM, form, "_save", document=text)
    seen = page.context["stale"].revision
    await visitor.patch("configmaps", "default", "a", {"data": {"l": "newer"}})
    refused = await visitor.press(FORM, page, f"_overwrite={seen}", document=text)
    newest = refused.context["stale"].revision
    done = await visitor.press(FORM, refused, f"_overwrite={newest}", document=text)

    assert (refused.code, done.code) == (409, 302)
    assert await data_of(visitor) == {"k": "mine", "l": "1"}


async def test_an_object_that_was_deleted_meanwhile_can_be_made_again(visitor: Visitor) -> None:
    await make(visitor, k="1")
    form = await visitor.open(FORM)
    text = form.document.replace('"1"', "mine")
    ctx = visitor.context("configmaps", "default", "a")
    await visitor.runtime.registry.delete(ctx, DeleteOptions())

    page = await visitor.press(FORM, form, "_save", document=text)
    made = await visitor.press(FORM, page, "_recreate", document=page.document)

    assert page.code in (404, 409)
    assert "the object is gone" in page.text
    assert page.document == text
    assert made.code == 302
    assert await data_of(visitor) == {"k": "mine"}


async def test_an_object_that_was_made_anew_is_not_taken_for_the_old_one(visitor: Visitor) -> None:
    await make(visitor, k="1")
    form = await visitor.open(FORM)
    ctx = visitor.context("configmaps", "default", "a")
    await visitor.runtime.registry.delete(ctx, DeleteOptions())
    await make(visitor, k="new")

    page = await visitor.press(FORM, form, "_save", document=form.document)

    assert page.code == 409
    assert await data_of(visitor) == {"k": "new"}


async def test_a_form_whose_beginning_was_tampered_with_loses_nothing(visitor: Visitor) -> None:
    await make(visitor, k="1")
    form = await visitor.open(FORM)
    await visitor.patch("configmaps", "default", "a", {"data": {"k": "theirs"}})

    page = await visitor.press(FORM, form, "_save", document=form.document, base="!")
    merge = await visitor.press(FORM, form, "_merge", document=form.document, base="!")

    assert page.code == 409
    assert merge.code in (200, 422)
    assert await data_of(visitor) == {"k": "theirs"}


# Status


async def test_the_status_has_a_form_of_its_own(visitor: Visitor) -> None:
    spec = {"containers": [{"name": "main", "image": "i:1"}]}
    await visitor.make("pods", "default", "p", spec=spec)
    path = "pod/default/p/change/"
    form = await visitor.open(path)
    status = await visitor.open(f"{path}?status")

    page = await visitor.press(
        f"{path}?status", status, "_save", document="status:\n  phase: Running\n"
    )

    assert "status:" not in form.document
    assert "phase: Pending" in form.text
    assert status.document.startswith("status:")
    assert page.code == 302
    assert (await visitor.get("pods", "default", "p"))["status"]["phase"] == "Running"


# Who may


async def test_who_may_only_look_gets_a_form_without_buttons(viewer: Visitor) -> None:
    await make(viewer, k="1")

    page = await viewer.open(FORM)
    posted = await viewer.press(FORM, page, "_save", document=page.document)
    others = [await viewer.open(path) for path in ("configmap/add/", "pod/", FORM[:-7] + "delete/")]

    assert "You may look at this object, but not change it." in page.text
    assert posted.code == 403
    assert [other.code for other in others] == [403, 403, 403]


async def test_what_is_not_there_leads_back_to_the_list(visitor: Visitor) -> None:
    page = await visitor.open("configmap/default/none/change/")
    followed = await visitor.open("configmap/")

    assert (page.code, page.location) == (302, "/admin/objects/configmap/")
    assert "There is no ConfigMap default/none." in followed.text
