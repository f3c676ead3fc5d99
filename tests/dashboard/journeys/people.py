"""People who may sign in and nothing more: no role is theirs."""

from __future__ import annotations

import os
import subprocess
import sys

from playwright.sync_api import Browser, Page

from tests.dashboard.journeys.conftest import listen
from tests.servers import ROOT, Server

NAME = "guest"
_CREATE = (
    "from django.contrib.auth import get_user_model as model;"
    f"model().objects.filter(username={NAME!r}).exists()"
    f" or model().objects.create_user({NAME!r}, password={NAME!r})"
)


def somebody(chromium: Browser, server: Server, complaints: list[str]) -> Page:
    """A page that a guest has signed in on; it has a context of its own."""
    subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "shell", "-c", _CREATE],
        check=True, capture_output=True, timeout=60,
        env={**os.environ, "LISTWATCH_DATA": str(server.data)},
    )  # fmt: skip
    page = chromium.new_context(base_url=server.url).new_page()
    listen(page, server, complaints)
    page.goto("/dashboard/login/")
    page.locator("[name=username]").fill(NAME)
    page.locator("[name=password]").fill(NAME)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_selector("#chip[data-is=live]")
    return page
