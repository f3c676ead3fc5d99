"""The attach form as a query of the API."""

from __future__ import annotations

import pytest

from dashboard.wishes import STARTS, query_of


@pytest.mark.parametrize(
    ("form", "query"),
    [
        ({}, {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}),
        ({"from": "state", "streaming": "false"}, {}),
        ({"from": "any"}, {"resourceVersion": "0"}),
        (
            {"from": "any", "streaming": "true"},
            {
                "resourceVersion": "0", "sendInitialEvents": "true",
                "resourceVersionMatch": "NotOlderThan",
            },
        ),
        ({"from": "now"}, {"resourceVersion": "40"}),
        ({"from": "now", "streaming": "true"}, {"resourceVersion": "40"}),
        ({"from": "oldest"}, {"resourceVersion": "7"}),
        ({"from": "revision", "revision": " 12 "}, {"resourceVersion": "12"}),
        (
            {"from": "now", "labels": "a=b", "fields": "metadata.name=x", "bookmarks": "true"},
            {
                "resourceVersion": "40", "labelSelector": "a=b",
                "fieldSelector": "metadata.name=x", "allowWatchBookmarks": "true",
            },
        ),
    ],
)  # fmt: skip
def test_a_form_is_the_query_it_stands_for(form: dict[str, str], query: dict[str, str]) -> None:
    assert query_of(form, applied=40, oldest=7) == {"watch": "true", **query}


def test_every_start_is_one_of_the_forms() -> None:
    assert [name for name, _ in STARTS] == ["state", "any", "now", "oldest", "revision"]
