from __future__ import annotations

import re
from pathlib import Path

from django.urls import URLPattern

from dashboard.keys import KEYS
from dashboard.urls import urlpatterns

DOCS = Path(__file__).resolve().parents[2] / "docs"
TEXT = "".join((DOCS / name).read_text() for name in ("dashboard.md", "objects.md"))


def test_every_page_and_its_twin_is_described() -> None:
    hidden = {"theme", "login", "logout", "unknown", "unknown-json"}
    for pattern in urlpatterns:
        assert isinstance(pattern, URLPattern)
        if pattern.name in hidden:
            continue
        route = re.sub(r"<(?:str|int):(\w+)>", r"<\1>", str(pattern.pattern))
        path = f"`/dashboard/{route}`".replace("resources/<resource>.json", "resources/pods.json")

        assert path in TEXT


def test_every_key_is_described() -> None:
    rows = dict(re.findall(r"^\| `(.+?)` \| (.+?) \|$", TEXT, re.MULTILINE))

    for key in KEYS:
        assert rows[key.shown] == key.says


def test_every_picture_is_there_and_shown() -> None:
    shown = set(re.findall(r"\(images/(.+?)\)", TEXT))
    there = {path.name for path in (DOCS / "images").glob("dashboard*.png")}

    assert shown == there


def test_every_end_reason_that_is_named_exists() -> None:
    from listwatch.protocol.events import EndReason

    reasons = {str(reason) for reason in EndReason}
    sentence = TEXT[TEXT.index("named by who ended it:") : TEXT.index("and the like")]

    assert set(re.findall(r"\*(.+?)\*", sentence)) <= reasons
