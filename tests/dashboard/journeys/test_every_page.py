from __future__ import annotations

import pytest

from tests.dashboard.accessibility import assert_no_sideways_scroll, violations
from tests.dashboard.journeys.conftest import Visit
from tests.dashboard.journeys.objects import create, fresh
from tests.dashboard.paths import PAGES, STILL
from tests.servers import Server

GROUNDS = {"light": "rgb(247, 247, 245)", "dark": "rgb(15, 16, 18)"}


@pytest.mark.timeout(180)
@pytest.mark.parametrize("width", [390, 1280, 1920])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_page_fits_and_is_accessible(
    visit: Visit, server: Server, theme: str, width: int
) -> None:
    """In each theme, on a telephone, a desk and a wide screen; `visit` sees to the console."""
    create(server, fresh("a-rather-long-name-that-does-not-fit-on-a-telephone"))
    page = visit(PAGES[0], width=width, theme=theme)
    broken: list[str] = []
    for path in PAGES:
        page.goto(path)
        if path not in STILL:
            page.wait_for_selector("#chip[data-is=live]")

        assert_no_sideways_scroll(page)
        broken += violations(page)
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == GROUNDS[theme], path

    assert broken == [], "\n".join(broken)


def test_the_checker_sees_what_is_wrong(visit: Visit) -> None:
    page = visit("/dashboard/patterns/")
    page.evaluate("document.getElementById('main').append(document.createElement('img'))")

    assert any("image-alt" in each for each in violations(page))
