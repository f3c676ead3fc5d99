"""The addresses of all pages: tests of every page read this."""

from __future__ import annotations

PAGES = (
    "/dashboard/",
    "/dashboard/resources/configmaps/",
    "/dashboard/flow/",
    "/dashboard/watchers/",
    "/dashboard/rings/",
    "/dashboard/rings/configmaps/?from=1",
    "/dashboard/attach/",
    "/dashboard/faults/",
    "/dashboard/patterns/",
)
STILL = ("/dashboard/patterns/",)  # those that have no socket even where scripts run
