"""What is no page, or fails, is told in the house's look; programs get a Status."""

from __future__ import annotations

import pytest
from django.template.loader import render_to_string
from django.test import AsyncClient, RequestFactory
from django.views.csrf import csrf_failure
from django.views.defaults import page_not_found, permission_denied, server_error

from tests.dashboard.stage import Stage
from tests.dashboard.test_pages import client, client_of

__all__ = ["client"]
pytestmark = pytest.mark.django_db(transaction=True)
MARK = '<link rel="stylesheet" href="/static/dashboard/tokens.css">'


@pytest.mark.parametrize("path", ["/dashboard/nonsense/", "/dashboard/watchers/1/more/"])
async def test_an_unknown_page_of_the_dashboard_stands_in_its_frame(
    client: AsyncClient,
    path: str,
) -> None:
    response = await client.get(path)
    text = response.content.decode()

    assert response.status_code == 404
    assert f"there is no page &quot;{path}&quot;" in text
    assert '<nav class="tabs"' in text
    twin = await client.get(f"{path[:-1]}.json")
    assert (twin.status_code, twin.json()["reason"]) == (404, "NotFound")


async def test_an_address_without_its_last_slash_leads_to_the_one_with_it(
    client: AsyncClient,
) -> None:
    assert (await client.get("/dashboard/watchers")).headers["location"] == "/dashboard/watchers/"


async def test_who_is_not_signed_in_learns_nothing_of_what_is_there(stage: Stage) -> None:
    assert (await client_of(stage).get("/dashboard/nonsense/")).status_code == 302


def test_other_pages_that_are_not_there_or_fail_have_the_look_of_the_house() -> None:
    request = RequestFactory().get("/admin/<nonsense>/")
    request.COOKIES["listwatch_theme"] = "dark"
    missing = page_not_found(request, LookupError())
    answers = [missing, permission_denied(request, PermissionError()), server_error(request)]
    answers.append(csrf_failure(request))
    texts = [answer.content.decode() for answer in answers]

    assert [answer.status_code for answer in answers] == [404, 403, 500, 403]
    assert all(MARK in text and 'href="/dashboard/"' in text for text in texts)
    assert "/admin/&lt;nonsense&gt;/" in texts[0]
    assert 'data-theme="dark"' in texts[0]
    assert "Nothing was done" in texts[3]


def test_the_page_of_a_failure_needs_no_request() -> None:
    assert "stands in the server's log" in render_to_string("500.html")
