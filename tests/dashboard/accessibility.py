"""Whether a page can be used by everybody: axe's rules of WCAG 2.1, levels A and AA."""

from __future__ import annotations

import re

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa")
_OPTIONS = {
    "resultTypes": ["violations"],
    "runOnly": {"type": "tag", "values": list(RULES)},
    "preload": False,  # of styles, which it would write into the page: the policy forbids that
}


def violations(page: Page) -> list[str]:
    """Each rule that the page breaks, and where."""
    response = Axe().run(page, options=_OPTIONS).response
    return [
        f"{page.url} {violation['id']}: {violation['help']}: {node['target']} {node['html'][:160]}"
        for violation in response["violations"]
        for node in violation["nodes"]
    ]


def assert_accessible(page: Page) -> None:
    """Fails with each rule that is broken."""
    broken = violations(page)

    assert broken == [], "\n".join(broken)


def assert_no_sideways_scroll(page: Page) -> None:
    """Fails if the page is wider than the window that shows it."""
    wide = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )

    assert wide <= 0


def contrast(ink: str, ground: str) -> float:
    """Of two colours as `rgb(...)`, by WCAG's own formula: 1 to 21."""
    darker, lighter = sorted([_luminance(ink), _luminance(ground)])
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    shares = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
