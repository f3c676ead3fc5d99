from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import AsyncClient

from listwatch.protocol.errors import StatusError
from listwatch.protocol.events import EndReason
from tests.dashboard.stage import Stage

STATIC = Path(__file__).resolve().parents[2] / "static" / "dashboard"
ICONS = (STATIC / "icons.svg").read_text()
STYLES = (STATIC / "components.css").read_text()
PAGES = (
    "/dashboard/",
    "/dashboard/resources/pods/",
    "/dashboard/resources/deployments.apps/",
    "/dashboard/flow/",
    "/dashboard/watchers/",
    "/dashboard/rings/",
    "/dashboard/rings/pods/",
    "/dashboard/attach/",
)
pytestmark = pytest.mark.django_db(transaction=True)


class Client(AsyncClient):
    """Requests as the server hands them on: with the runtime in their scope."""

    def __init__(self, stage: Stage) -> None:
        super().__init__()
        self._stage = stage

    def _base_scope(self, **request: Any) -> dict[str, Any]:
        base = super()._base_scope(**request)  # type: ignore[misc]  # not in the stubs
        return {**base, "listwatch.runtime": self._stage}


class Page(HTMLParser):
    """The parts of a page that the tests look at."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.inline: list[str] = []
        self.addresses: list[str] = []
        self.void: list[str] = []
        self._script = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "style" or "style" in given or any(name.startswith("on") for name in given):
            self.inline.append(f"<{tag} {given}>")
        self._script = tag == "script"
        for name in ("href", "src", "action"):
            if value := given.get(name):
                self.addresses.append(value)

    def handle_data(self, data: str) -> None:
        if self._script and data.strip():
            self.inline.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._script = False


@pytest.fixture
async def client(stage: Stage) -> AsyncClient:
    user = get_user_model()(username="admin", is_superuser=True)
    user.set_password("secret")
    await user.asave()
    made = client_of(stage)
    await made.aforce_login(user)
    return made


def client_of(stage: Stage) -> AsyncClient:
    return Client(stage)


async def text_of(client: AsyncClient, path: str) -> str:
    response = await client.get(path)

    assert response.status_code == 200, path
    return str(response.content.decode())


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_is_for_those_who_are_signed_in(stage: Stage, path: str) -> None:
    response = await client_of(stage).get(path)

    assert response.status_code == 302
    assert response.headers["location"].startswith("/dashboard/login/?next=%2Fdashboard")


@pytest.mark.parametrize("path", PAGES)
async def test_data_is_refused_to_those_who_are_not(stage: Stage, path: str) -> None:
    json = "/dashboard/overview.json" if path == "/dashboard/" else f"{path[:-1]}.json"

    assert (await client_of(stage).get(json)).status_code == 401


async def test_an_inactive_user_sees_nothing(client: AsyncClient) -> None:
    await get_user_model().objects.aupdate(is_active=False)

    assert (await client.get("/dashboard/")).status_code == 302


@pytest.mark.parametrize("path", [*PAGES, "/dashboard/patterns/"])
async def test_no_page_carries_script_or_style_or_a_foreign_address(
    client: AsyncClient, stage: Stage, path: str
) -> None:
    await furnish(stage)
    page = Page(await text_of(client, path))

    assert page.inline == []
    assert [a for a in page.addresses if not a.startswith(("/", "#", "?"))] == []


@pytest.mark.parametrize("path", PAGES)
async def test_every_page_has_a_json_twin_that_it_links_to(
    client: AsyncClient, stage: Stage, path: str
) -> None:
    await furnish(stage)
    (twin,) = re.findall(r'<a href="([^"]+\.json)">This page as JSON', await text_of(client, path))
    response = await client.get(twin)

    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    assert response.json()


async def furnish(stage: Stage) -> None:
    stage.write("web", labels={"app": "web"})
    stage.write("web", labels={"app": "web"}, spec={"a": 1})
    stage.write("old")
    stage.write("old", deleted=True)
    stage.write("web", resource="deployments.apps")
    await stage.watch(agent="kubectl/v1.37.1 (linux)", labels="app=web", namespace="default")
    (await stage.watch(agent="gone/1")).close(EndReason.TOO_SLOW)


async def test_kinds_of_which_there_is_nothing_stand_last_though_controllers_watch_them(
    client: AsyncClient, stage: Stage
) -> None:
    await furnish(stage)
    await stage.watch(agent="kube-controller-manager/v1.36.0", resource="secrets")
    rows = (await client.get("/dashboard/overview.json")).json()["resources"]
    quiet = [row["id"] for row in rows if row["quiet"] == "true"]

    assert [row["id"] for row in rows[:2]] == ["pods", "deployments.apps"]
    assert "secrets" in quiet
    assert [row["id"] for row in rows[2:]] == quiet


async def test_the_overview_stands_without_a_script(client: AsyncClient, stage: Stage) -> None:
    await furnish(stage)
    data = (await client.get("/dashboard/overview.json")).json()
    pods = next(row for row in data["resources"] if row["id"] == "pods")

    assert (pods["objects"], pods["watchers"], pods["revision"]) == (1, 1, "4")
    text = await text_of(client, "/dashboard/")
    assert 'href="/dashboard/resources/pods/"' in text
    assert 'data-row="pods"' in text


async def test_a_resource_stands_without_a_script(client: AsyncClient, stage: Stage) -> None:
    await furnish(stage)
    text = await text_of(client, "/dashboard/resources/pods/")

    for expected in ("kubectl/v1.37.1", "-n default -l app=web", "too slow", "default/old"):
        assert expected in text
    assert "The ring holds 4 of 100 events, from revision 1 to 4; 1 watchers follow it." in text
    assert len(re.findall(r'<rect x="[\d.]+" y="[\d.]+"[^>]+class="MODIFIED"', text)) == 1


async def test_the_legend_has_the_marks_that_the_strip_has(
    client: AsyncClient, stage: Stage
) -> None:
    await furnish(stage)
    text = await text_of(client, "/dashboard/resources/pods/")
    strips = dict(
        re.findall(r'<svg class="ring-marks"[^>]*data-of="(\w+)">.*?<path d="(.*?)"', text)
    )
    keys = dict(re.findall(r'<svg class="mark-key" data-of="(\w+)".*?<path d="(.*?)"', text))

    assert set(keys) == {"watcher", "resume"}
    assert strips
    assert all(keys[of] == path for of, path in strips.items())


async def test_older_slots_are_a_link_away_until_the_oldest(
    client: AsyncClient, stage: Stage
) -> None:
    for number in range(90 + 120):
        stage.write(f"web-{number % 10}")
    seen: list[str] = []
    address = "/dashboard/resources/pods/"
    for _ in range(5):
        text = await text_of(client, address)
        seen += re.findall(r'<tr data-row="(\d+)">\s*<th scope="row" class="mono"', text)
        more = re.search(r'href="([^"]+\?before=\d+)"', text)
        if more is None:
            break
        address = more[1]
    ring = stage.statistics().cachers["pods"].ring

    assert seen == [str(revision) for revision in range(210, 210 - ring.events, -1)]


async def test_a_resource_that_is_not_served_is_not_found(client: AsyncClient) -> None:
    assert (await client.get("/dashboard/resources/widgets/")).status_code == 404
    assert (await client.get("/dashboard/resources/pods.example.com.json")).status_code == 404


async def test_what_people_typed_stands_escaped(client: AsyncClient, stage: Stage) -> None:
    stage.write("<b>web</b>")
    await stage.watch(agent='"><script>alert(1)</script>', user="<i>")
    for path in PAGES:
        text = await text_of(client, path + "?q=<u>")

        assert "<script>alert" not in text
        assert "<b>web" not in text
        assert "<u>" not in text


async def test_an_empty_table_shows_the_command_that_fills_it(client: AsyncClient) -> None:
    pods = await text_of(client, "/dashboard/resources/pods/")

    assert "kubectl run web --image=nginx" in pods
    assert "kubectl get pods -A -w --output-watch-events" in pods
    assert "kubectl create configmap demo" in await text_of(client, "/dashboard/flow/")
    assert "Nobody watches" in await text_of(client, "/dashboard/watchers/")


async def test_the_attach_form_is_filled_from_the_address(client: AsyncClient) -> None:
    text = await text_of(
        client,
        "/dashboard/attach/?resource=apps/v1/deployments&namespace=shop&labels=app%3Dweb&from=now",
    )

    assert 'value="apps/v1/deployments" data-namespaced="true" selected' in text
    assert (
        "kubectl get deployments.apps -n shop -l app=web --watch-only --output-watch-events" in text
    )
    assert 'name="bookmarks" value="true">' in text


async def test_the_attach_page_and_a_watcher_can_be_copied_as_commands(
    client: AsyncClient, stage: Stage
) -> None:
    query = "resource=v1/pods&namespace=shop&labels=app%3Dweb&from=revision&revision=7"
    attach = await text_of(client, f"/dashboard/attach/?{query}")
    watch = await stage.watch(labels="app=web", namespace="shop")
    watcher = await text_of(client, f"/dashboard/watchers/{watch.id}/")

    assert "/api/v1/namespaces/shop/pods?" in attach
    assert "resourceVersion=7" in attach
    assert "kubectl get pods -n shop -l app=web -w --output-watch-events" in watcher
    for text in (attach, watcher):
        assert [f'aria-label="Copy as {name}"' in text for name in ("curl", "client-go")] == [
            True,
            True,
        ]


async def test_a_strange_address_never_breaks_the_attach_page(client: AsyncClient) -> None:
    for query in ("resource=", "from=nowhere&resource=v1/pods", "revision=x"):
        await text_of(client, f"/dashboard/attach/?{query}")


async def test_colours_are_chosen_without_a_script(client: AsyncClient) -> None:
    assert '<html lang="en">' in await text_of(client, "/dashboard/flow/")

    response = await client.post(
        "/dashboard/theme/", {"theme": "dark", "next": "/dashboard/flow/?q=a"}
    )

    assert response.headers["location"] == "/dashboard/flow/?q=a"
    assert '<html lang="en" data-theme="dark">' in await text_of(client, "/dashboard/flow/")


async def test_the_colours_switch_leads_to_no_foreign_page(client: AsyncClient) -> None:
    response = await client.post(
        "/dashboard/theme/", {"theme": "purple", "next": "https://example.com/"}
    )

    assert response.headers["location"] == "/dashboard/"
    assert '<html lang="en">' in await text_of(client, "/dashboard/")


async def test_signing_in_leads_back_to_where_one_was_going(
    client: AsyncClient, stage: Stage
) -> None:
    stranger = client_of(stage)
    wrong = await stranger.post(
        "/dashboard/login/", {"username": "admin", "password": "no", "next": "/dashboard/flow/"}
    )

    assert wrong.status_code == 200
    assert "Please enter a correct" in wrong.content.decode()

    right = await stranger.post(
        "/dashboard/login/", {"username": "admin", "password": "secret", "next": "/dashboard/flow/"}
    )

    assert right.headers["location"] == "/dashboard/flow/"

    await stranger.post("/dashboard/logout/")

    assert (await stranger.get("/dashboard/")).status_code == 302


async def test_every_event_type_has_a_word_a_colour_and_a_shape(client: AsyncClient) -> None:
    text = await text_of(client, "/dashboard/patterns/")
    shapes = set()
    for name in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"):
        assert f"<span>{name}</span>" in text
        assert name == "BOOKMARK" or f'.type[data-is="{name}"]' in STYLES
        found = re.search(f'<symbol id="{name.lower()}".*?</symbol>', ICONS)
        assert found is not None
        shapes.add(found[0])

    assert len(shapes) == 5


async def test_only_those_whom_the_api_lets_watch_may_attach(
    client: AsyncClient, stage: Stage
) -> None:
    from dashboard.access import watching_user

    pods = stage.resources.find("", "v1", "pods")
    assert pods is not None
    runtime: Any = stage
    admin = await get_user_model().objects.aget()
    guest = get_user_model()(username="guest")
    await guest.asave()

    assert (await watching_user(runtime, admin, pods, "")).groups == (
        "system:masters",
        "system:authenticated",
    )
    with pytest.raises(StatusError) as caught:
        await watching_user(runtime, guest, pods, "shop")

    assert caught.value.code == 403
    assert caught.value.message == (
        'pods is forbidden: User "guest" cannot watch resource "pods" in API group "" '
        'in the namespace "shop"'
    )


async def test_one_event_and_one_watcher_have_pages_and_twins(
    client: AsyncClient, stage: Stage
) -> None:
    await furnish(stage)
    watcher = await stage.watch(agent='"><script>alert(1)</script>', labels="app=web")
    for path in ("/dashboard/events/2/", f"/dashboard/watchers/{watcher.id}/"):
        page = Page(text := await text_of(client, path))
        twin = (await client.get(f"{path[:-1]}.json")).json()

        assert page.inline == []
        assert "<script>alert" not in text
        assert twin
    for gone in ("/dashboard/events/99/", "/dashboard/watchers/99999999/"):
        assert (await client.get(gone)).status_code == 404
        assert (await client.get(f"{gone[:-1]}.json")).json()["code"] == 404


async def test_a_resource_lists_the_fields_that_selectors_may_name(client: AsyncClient) -> None:
    """As metal3-io/baremetal-operator#779: users cannot tell which fields work."""
    pods = await text_of(client, "/dashboard/resources/pods/")
    namespaces = await text_of(client, "/dashboard/resources/namespaces/")

    for field in ("metadata.name", "metadata.namespace", "spec.nodeName", "status.phase"):
        assert f'<span class="tag">{field}</span>' in pods
    assert '<span class="tag">metadata.namespace</span>' not in namespaces
