"""Whether a page can be used by everybody: axe's rules of WCAG 2.1, levels A and AA."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa")
_OPTIONS = {"resultTypes": ["violations"], "runOnly": {"type": "tag", "values": list(RULES)}}


def assert_accessible(page: Page) -> None:
    """Fails with each rule that is broken, and where."""
    response = Axe().run(page, options=_OPTIONS).response
    broken = [
        f"{violation['id']}: {violation['help']}: {node['target']} {node['html'][:160]}"
        for violation in response["violations"]
        for node in violation["nodes"]
    ]

    assert response["testEngine"]["name"] == "axe-core"
    assert broken == [], "\n".join(broken)


def assert_no_sideways_scroll(page: Page) -> None:
    """Fails if the page is wider than the window that shows it."""
    wide = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )

    assert wide <= 0
