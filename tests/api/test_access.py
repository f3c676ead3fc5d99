from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.contrib.sessions.backends.db import SessionStore

from listwatch.api.sessions import session_user
from listwatch.api.tokens import Tokens
from listwatch.conf import Options
from listwatch.registry.context import UserInfo
from listwatch.registry.users import kubernetes_user
from tests.api.asking import Face, config_map

PATH = "/api/v1/namespaces/ns/configmaps"
SESSION = f"{settings.SESSION_COOKIE_NAME}=s"


@pytest.fixture
def face() -> Face:
    face = Face()
    face.registry.put(config_map("a"), 5)
    return face


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("Bearer T", 200),
        ("bearer T", 200),
        ("Bearer nonsense", 401),
        ("Bearer ", 403),
        ("Basic eDp5", 403),
        (None, 403),
    ],
)
async def test_credentials_decide_who_asks(face: Face, header: str | None, status: int) -> None:
    headers = {} if header is None else {"authorization": header}
    answer = await face.ask("GET", f"{PATH}/a", headers=headers, token="")

    assert answer.status == status
    assert answer.header("www-authenticate") == []


async def test_bad_credentials_are_refused_even_where_none_are_needed(face: Face) -> None:
    answer = await face.ask("GET", "/healthz", token="nonsense")

    assert (answer.status, answer.json["message"]) == (401, "Unauthorized")


@pytest.mark.parametrize(
    ("method", "path", "message"),
    [
        ("GET", PATH,
         ('configmaps is forbidden: User "limited" cannot list resource '
          '"configmaps" in API group "" in the namespace "ns"')),
        ("GET", f"{PATH}?watch=1",
         ('configmaps is forbidden: User "limited" cannot watch resource '
          '"configmaps" in API group "" in the namespace "ns"')),
        ("PUT", f"{PATH}/a",
         ('configmaps "a" is forbidden: User "limited" cannot update resource "configmaps" in API '
         'group "" in the namespace "ns"')),
        ("DELETE", PATH,
         ('configmaps is forbidden: User "limited" cannot deletecollection resource '
         '"configmaps" in API group "" in the namespace "ns"')),
        ("POST", "/api/v1/namespaces/ns/pods/p/binding",
         ('pods "p" is forbidden: User "limited" cannot create resource '
          '"pods/binding" in API group "" in the namespace "ns"')),
        ("POST", "/api/v1/namespaces",
         ('namespaces is forbidden: User "limited" cannot create resource '
          '"namespaces" in API group "" at the cluster scope')),
        ("GET", "/apis/none.test/v1/namespaces/x/things",
         ('things.none.test is forbidden: User "limited" cannot list resource "things" in '
         'API group "none.test" in the namespace "x"')),
        ("GET", "/metrics", 'forbidden: User "limited" cannot get path "/metrics"'),
        ("GET", "/none", 'forbidden: User "limited" cannot get path "/none"'),
    ],
)  # fmt: skip
async def test_who_may_nothing_is_told_what_he_may_not(
    face: Face, method: str, path: str, message: str
) -> None:
    answer = await face.ask(method, path, b"{", token="L")

    assert (answer.status, answer.json["reason"]) == (403, "Forbidden")
    assert answer.json["message"] == message


async def test_a_refusal_names_the_object_in_its_details(face: Face) -> None:
    named = await face.ask("GET", f"{PATH}/a", token="L")
    path = await face.ask("GET", "/metrics", token="L")

    assert named.json["details"] == {"name": "a", "kind": "configmaps"}
    assert path.json["details"] == {}


async def test_the_one_name_that_a_selector_leaves_is_what_is_asked_for(face: Face) -> None:
    one = await face.ask("GET", f"{PATH}?fieldSelector=metadata.name%3Da", token="L")
    other = await face.ask("GET", f"{PATH}?fieldSelector=metadata.name!%3Da", token="L")

    assert one.json["details"] == {"name": "a", "kind": "configmaps"}
    assert one.json["message"].startswith('configmaps "a" is forbidden')
    assert other.json["details"] == {"kind": "configmaps"}


@pytest.mark.parametrize(
    ("path", "anybody", "limited"),
    [("/version", 200, 200), ("/healthz", 200, 200), ("/readyz", 200, 200),
     ("/readyz/ping", 403, 403), ("/api", 403, 200), ("/apis/apps/v1", 403, 200),
     ("/metrics", 403, 403)],
)  # fmt: skip
async def test_anybody_sees_health_and_version_and_users_discover(
    face: Face, path: str, anybody: int, limited: int
) -> None:
    assert (await face.ask("GET", path, token="")).status == anybody
    assert (await face.ask("GET", path, token="L")).status == limited


def test_static_tokens_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "tokens.csv"
    path.write_text('t1,ann,7,"a, b"\n\nt2,bob,8\nt3, eve,9,system:masters\n')
    tokens = Tokens.from_options(Options(token="T", token_auth_file=str(path)))

    assert tokens.user("t1") == UserInfo("ann", "7", ("a", "b", "system:authenticated"))
    assert tokens.user("t2") == UserInfo("bob", "8", ("system:authenticated",))
    assert tokens.user("t3") == UserInfo("eve", "9", ("system:masters", "system:authenticated"))
    assert tokens.user("T") is not None
    assert tokens.user("t4") is None


def test_a_line_without_a_user_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tokens.csv"
    path.write_text("t1,ann,7\nt2,bob\n")

    with pytest.raises(ValueError, match=r"tokens\.csv:2"):
        Tokens().read_file(path)


def test_the_kept_token_is_the_admins(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("kept\n")

    assert Tokens.from_options(Options(data=tmp_path)).user("kept") is not None


def test_no_token_is_kept_in_the_clear() -> None:
    tokens = Tokens()
    tokens.add("a-secret", UserInfo("x"))

    assert "a-secret" not in repr(vars(tokens))


@pytest.mark.django_db
def test_a_session_is_its_users() -> None:
    user = User.objects.create_user("ann")
    user.groups.add(Group.objects.create(name="testers"))
    session = SessionStore()
    session["_auth_user_id"] = str(user.pk)
    session["_auth_user_backend"] = "django.contrib.auth.backends.ModelBackend"
    session["_auth_user_hash"] = user.get_session_auth_hash()
    session.create()

    assert session.session_key is not None
    found = session_user(session.session_key)
    assert found == UserInfo("ann", f"django:{user.pk}", ("testers", "system:authenticated"))

    session.delete()
    assert session_user(session.session_key) is None


@pytest.mark.django_db
def test_a_superuser_is_a_master() -> None:
    root = User.objects.create_superuser("root")

    assert "system:masters" in kubernetes_user(root).groups


@pytest.fixture
def browser(face: Face) -> Face:
    async def session(*_: Any) -> UserInfo:
        return UserInfo("root", groups=("system:masters",))

    face.runtime.readers.run = session
    return face


async def test_a_browser_reads_with_its_session(browser: Face) -> None:
    headers = {"cookie": SESSION}

    assert (await browser.ask("GET", f"{PATH}/a", headers=headers, token="")).status == 200


async def test_a_browser_writes_only_with_the_token_of_its_page(browser: Face) -> None:
    secret = "a" * 32
    cookie = {"cookie": f"{SESSION}; {settings.CSRF_COOKIE_NAME}={secret}"}
    without = await browser.ask("DELETE", f"{PATH}/a", headers=cookie, token="")
    headers = {**cookie, "x-csrftoken": secret}
    with_it = await browser.ask("DELETE", f"{PATH}/a", headers=headers, token="")

    assert (without.status, without.json["reason"]) == (403, "Forbidden")
    assert "CSRF" in without.json["message"]
    assert with_it.status == 200


async def test_an_ended_session_is_nobodys(browser: Face) -> None:
    async def ended(*_: Any) -> None:
        return None

    browser.runtime.readers.run = ended
    answer = await browser.ask("GET", f"{PATH}/a", headers={"cookie": SESSION}, token="")

    assert "system:anonymous" in answer.json["message"]
