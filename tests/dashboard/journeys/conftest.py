"""A real Chromium before a real server: pages are used as people use them.

Every journey ends with a clean console and without a request to anybody else.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, sync_playwright

from tests.servers import Server

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
]  # fmt: skip

Visit = Callable[..., Page]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "journeys" in str(item.path):
            item.add_marker(pytest.mark.external)


@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    """One for a module, since its loop would stand in the way of asynchronous tests."""
    if CHROMIUM is None:
        if os.environ.get("CI"):
            pytest.fail("there is no chromium on PATH")
        pytest.skip("there is no chromium on PATH")
    with sync_playwright() as made:
        yield made


@pytest.fixture(scope="module")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    made = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
    yield made
    made.close()


@pytest.fixture(scope="module")
def signed_in(chromium: Browser, server: Server) -> list[Any]:
    """The cookies of a browser that came by the login link."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(server.login_link())
    cookies: list[Any] = context.cookies()
    context.close()
    return cookies


@pytest.fixture
def complaints() -> Iterator[list[str]]:
    """What the console said and who else was asked; a journey that expects some clears it."""
    found: list[str] = []
    yield found

    assert found == []


@pytest.fixture
def visit(
    chromium: Browser, server: Server, signed_in: list[Any], complaints: list[str]
) -> Iterator[Visit]:
    """Open a page of the dashboard, in a context of its own."""
    contexts: list[BrowserContext] = []

    def open_(
        path: str, *, width: int = 1280, height: int = 900, theme: str = "", **options: Any
    ) -> Page:
        context = chromium.new_context(
            viewport={"width": width, "height": height}, base_url=server.url, **options
        )
        contexts.append(context)
        context.add_cookies(signed_in)
        if theme:
            cookie = {"name": "listwatch_theme", "value": theme, "url": server.url}
            context.add_cookies([cookie])  # type: ignore[list-item]  # playwright's own type
        page = context.new_page()
        listen(page, server, complaints)
        page.goto(path)
        return page

    yield open_
    for context in contexts:
        context.close()


def listen(page: Page, server: Server, complaints: list[str]) -> None:
    """Note whatever a clean page does not do."""
    page.on(
        "console",
        lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None,
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda asked: None if asked.url.startswith(server.url) else complaints.append(asked.url),
    )


@pytest.fixture
def live(visit: Visit) -> Visit:
    """Open a page and wait until it is live."""

    def open_(path: str, **options: Any) -> Page:
        page = visit(path, **options)
        page.wait_for_selector("#chip[data-is=live]")
        return page

    return open_
