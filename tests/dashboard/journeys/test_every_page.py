from __future__ import annotations

import pytest

from tests.dashboard.accessibility import assert_no_sideways_scroll, violations
from tests.dashboard.journeys.conftest import Visit
from tests.dashboard.journeys.objects import create, fresh
from tests.dashboard.paths import LOOKS, PAGES, SAMPLE, STILL
from tests.servers import Server

GROUNDS = {"light": "rgb(247, 247, 245)", "dark": "rgb(15, 16, 18)"}


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    "looks",
    [pytest.param(SAMPLE, id="sample"), pytest.param(LOOKS, id="all", marks=pytest.mark.full)],
)
@pytest.mark.parametrize("path", PAGES)
def test_every_page_fits_and_is_accessible(
    visit: Visit, server: Server, path: str, looks: tuple[tuple[str, int], ...]
) -> None:
    """In both themes, on a telephone, a desk and a wide screen; `visit` sees to the console."""
    create(server, fresh("a-rather-long-name-that-does-not-fit-on-a-telephone"))
    page = visit(path)
    if path not in STILL:
        page.wait_for_selector("#chip[data-is=live]")
    broken: list[str] = []
    for theme, width in looks:
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate("(theme) => document.documentElement.dataset.theme = theme", theme)

        assert_no_sideways_scroll(page)
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == GROUNDS[theme]
        broken += [f"{theme} {width} {each}" for each in violations(page)]

    assert broken == [], "\n".join(broken)


def test_the_checker_sees_what_is_wrong(visit: Visit) -> None:
    page = visit("/dashboard/patterns/")
    page.evaluate("document.getElementById('main').append(document.createElement('img'))")

    assert any("image-alt" in each for each in violations(page))
