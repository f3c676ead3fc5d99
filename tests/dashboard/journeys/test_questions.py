"""The ten questions of docs/dashboard.md: their clicks lead to their answers, four at most."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.dashboard.journeys.conftest import listen
from tests.dashboard.journeys.objects import config_map, create, watching
from tests.dashboard.journeys.test_watchers import relabel
from tests.servers import Server, running

DOCS = Path(__file__).resolve().parents[3] / "docs" / "dashboard.md"
MOST_CLICKS = 4
BIG = "x" * 900_000  # bytes of data; a few of these fill a socket that is not read


def questions() -> dict[str, list[str]]:
    """The table's questions, each with its clicks."""
    section = DOCS.read_text().split("## Ten questions")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (.+\?.*?) \| (`.+?`) \|", section, re.MULTILINE)
    return {question: re.findall(r"`(.+?)`", clicks) for question, clicks in rows}


@dataclass
class Scene:
    """What happened on the server before anybody asks."""

    server: Server
    moved: str = ""  # revision of the write that took an object out of a selector
    old: str = ""  # a revision that a client holds
    names: dict[str, str] = field(default_factory=dict)  # what `<client>` stands for


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A controller that is slow, one that hears of a move, one that left, one that is hasty."""
    with running(tmp_path_factory.mktemp("questions")) as server, ExitStack() as stack:
        scene = Scene(server)
        old = create(server, "first")
        scene.old = old["metadata"]["resourceVersion"]
        create(server, "moving")
        for _ in range(12):
            with watching(server, "labelSelector=app%3Dnone", "hasty-client/1"):
                pass
        with watching(server, "", "left-early/1"):
            pass
        query = "labelSelector=app%3Dmoving&allowWatchBookmarks=true"
        heard = stack.enter_context(watching(server, query, "web-controller/1"))
        idle = "labelSelector=app%3Dnone&allowWatchBookmarks=true"
        stack.enter_context(watching(server, idle, "idle-informer/1"))
        relabel(server, "moving", "elsewhere")
        heard.readline()
        stack.enter_context(watching(server, "", "slow-operator/1"))
        for number in range(12):
            server.json(
                "POST",
                "/api/v1/namespaces/default/configmaps",
                config_map(f"big-{number}", data=BIG),
            )
        for _ in range(12):
            stack.enter_context(watching(server, "labelSelector=app%3Dnone", "hasty-client/1"))
        yield scene


@pytest.fixture
def page(
    chromium: Browser, scene: Scene, complaints: list[str], cookies: list[dict[str, str]]
) -> Iterator[Page]:
    context = chromium.new_context(base_url=scene.server.url)
    context.add_cookies(cookies)  # type: ignore[arg-type]  # playwright's own type
    page = context.new_page()
    listen(page, scene.server, complaints)
    page.goto("/dashboard/")
    page.wait_for_selector("#chip[data-is=live]")
    yield page
    context.close()


@pytest.fixture(scope="module")
def cookies(chromium: Browser, scene: Scene) -> object:
    context = chromium.new_context()
    context.new_page().goto(scene.server.login_link())
    found = context.cookies()
    context.close()
    return found


def click(page: Page, what: str, scene: Scene, client: str) -> None:
    """One click, as the table names it."""
    if what == "<revision>" and page.locator("#calculator-from").count():
        page.locator("#calculator-from").click()
        page.keyboard.type(scene.old)
        return
    name = {"<client>": client, "<resource>": "configmaps", "<revision>": scene.moved}.get(what)
    name = what if name is None else name
    if what == "<revision>":
        row = page.locator("#journeys tr").filter(has_text="default/moving")
        row.locator("a[data-text=revision]").first.click()
    elif what == "Explain":
        page.get_by_role("button", name=what).click()
    else:
        page.get_by_role("link", name=name, exact=True).first.click()


def slow_first(page: Page) -> None:
    row = page.locator("#watching tr").first
    expect(row.locator("th")).to_contain_text("slow-operator/1")
    expect(row.locator(".lag").first).not_to_have_text("0")


def would_go_on(page: Page) -> None:
    expect(page.locator("#reconnect")).to_contain_text("It would go on from the")
    expect(page.locator("#reconnect .left")).to_be_visible()


def left_the_selector(page: Page) -> None:
    row = page.locator("#rows tr").filter(has_text="default/moving").first
    expect(row.locator(".type")).to_have_text("DELETED")
    expect(row.locator("[data-text=because]")).to_have_text("app: moving → elsewhere")
    expect(row.locator("[data-text=write]")).to_have_text("MODIFIED")


def furthest_back(page: Page) -> None:
    row = page.locator("#places tr").first
    expect(row.locator("th")).to_contain_text(re.compile(r"\w"))
    first, second = (
        int(page.locator("#places tr [data-text=delivered]").nth(n).inner_text()) for n in (0, 1)
    )
    assert first <= second
    expect(row.locator("[data-text=left_says]")).not_to_be_empty()


def explained(page: Page) -> None:
    expect(page.locator(".verdict")).to_have_text(re.compile("Served by|Refused"))
    expect(page.locator(".reach [data-here]")).to_have_count(1)


def stations(page: Page) -> None:
    expect(page.locator(".stations strong").first).to_have_text("commit")
    expect(page.locator(".took").first).to_have_text(re.compile(r"\d"))


def told_apart(page: Page) -> None:
    expect(page.locator(".transition[data-is=DELETED]")).to_contain_text("app=moving")
    expect(page.locator(".transition[data-is=nothing]")).to_contain_text("app=none")


def ended(page: Page) -> None:
    expect(page.locator(".ending")).to_contain_text("Ended: client left")
    expect(page.locator(".ending")).to_contain_text("goes on from the last revision")


def bookmark(page: Page) -> None:
    expect(page.locator("#bookmark .card-figure")).to_have_text(re.compile(r"in \d+s"))
    expect(page.locator("#bookmark [data-text=why]")).to_contain_text("One each period")


def hasty(page: Page) -> None:
    tags = page.locator("#watching tr").filter(has_text="hasty-client/1").locator(".tag-bad")
    expect(tags.first).to_have_text(re.compile(r"\d+ connects a minute"))


ANSWERS: dict[str, tuple[str, Callable[[Page], None]]] = {
    "Which controller is slow?": ("", slow_first),
    "Would a restart of X have to list again?": ("web-controller/1", would_go_on),
    "Why did watcher Y get DELETED, though the object is there?": (
        "web-controller/1", left_the_selector,
    ),
    "Who holds on to the oldest place in the ring, and is told 410 first?": ("", furthest_back),
    'My client says "too old resource version". What would still be served?': ("", explained),
    "Where did the time of one slow write go?": ("", stations),
    "Who heard of a write, who did not, and why?": ("", told_apart),
    "Why did a watch end, and what does its client do now?": ("left-early/1", ended),
    "What keeps an idle watch from growing old, and when?": ("idle-informer/1", bookmark),
    "Does some client reconnect in a loop?": ("", hasty),
}  # fmt: skip


def test_there_are_ten_questions_of_four_clicks_at_most() -> None:
    asked = questions()

    assert list(asked) == list(ANSWERS)
    assert len(asked) >= 10
    assert all(1 <= len(clicks) <= MOST_CLICKS for clicks in asked.values())


@pytest.mark.parametrize("question", ANSWERS)
def test_the_clicks_lead_to_the_answer(page: Page, scene: Scene, question: str) -> None:
    client, answer = ANSWERS[question]
    for what in questions()[question]:
        click(page, what, scene, client)
        page.wait_for_selector("#chip[data-is=live]")
        if what == "Lag time":
            time.sleep(0.5)  # for the order that was asked for

    answer(page)
