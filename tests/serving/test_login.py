"""The login link: good once, and for a while."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client

from listwatch.serving import login

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> User:
    return login.ensure_admin()


def test_the_first_start_makes_an_admin_without_a_password_and_the_next_keeps_him(
    admin: User,
) -> None:
    assert admin.is_superuser
    assert not admin.has_usable_password()
    assert login.ensure_admin() == admin


def test_a_link_logs_in_and_leads_to_the_dashboard(admin: User, client: Client) -> None:
    answer = client.get(f"/login/{login.make_token(admin)}/")

    assert (answer.status_code, answer.headers["location"]) == (302, "/dashboard/")
    assert client.session["_auth_user_id"] == str(admin.pk)
    assert "no-store" in answer.headers["cache-control"]


def test_a_link_that_was_used_logs_nobody_in(admin: User, client: Client) -> None:
    link = f"/login/{login.make_token(admin)}/"
    client.get(link)
    other = Client()
    answer = other.get(link)

    assert answer.status_code == 302
    assert "_auth_user_id" not in other.session
    assert "used or is too old" in other.get(answer["Location"], follow=True).content.decode()


def test_every_login_spends_the_links_printed_before(admin: User, client: Client) -> None:
    links = [f"/login/{login.make_token(admin)}/" for _ in range(2)]
    client.get(links[0])
    other = Client()
    other.get(links[1])

    assert "_auth_user_id" not in other.session


def test_a_link_is_good_for_some_hours(
    admin: User, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = login.make_token(admin)
    later = time.time() + timedelta(hours=login.HOURS).total_seconds() + 1
    monkeypatch.setattr(time, "time", lambda: later)
    client.get(f"/login/{token}/")

    assert "_auth_user_id" not in client.session


@pytest.mark.parametrize("token", ["nonsense", "a:b:c", "WzEsIiJd:1xXquB:AAAA"])
def test_a_link_that_nobody_signed_logs_nobody_in(token: str, admin: User, client: Client) -> None:
    answer = client.get(f"/login/{token}/")

    assert answer.status_code == 302
    assert "_auth_user_id" not in client.session


def test_a_look_at_the_headers_does_not_spend_a_link(admin: User, client: Client) -> None:
    link = f"/login/{login.make_token(admin)}/"

    assert client.head(link).status_code == 405
    assert client.get(link).status_code == 302
    assert "_auth_user_id" in client.session


def test_a_user_who_may_not_log_in_is_not_let_in_by_a_link(admin: User, client: Client) -> None:
    token = login.make_token(admin)
    User.objects.filter(pk=admin.pk).update(is_active=False)
    client.get(f"/login/{token}/")

    assert "_auth_user_id" not in client.session
