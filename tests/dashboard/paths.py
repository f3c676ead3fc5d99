"""The addresses of all pages, and how they are looked at: tests of every page read this."""

from __future__ import annotations

import pytest

PAGES = (
    "/dashboard/",
    "/dashboard/resources/configmaps/",
    "/dashboard/objects/",
    "/dashboard/objects/?q=default",
    "/dashboard/objects/configmaps/",
    "/dashboard/objects/namespaces/default/",
    "/dashboard/objects/namespaces/default/?view=history",
    "/dashboard/objects/namespaces/default/?view=events",
    "/dashboard/objects/namespaces/default/?view=owners",
    "/dashboard/objects/namespaces/default/?view=edit",
    "/dashboard/objects/namespaces/default/?view=delete",
    "/dashboard/create/?resource=deployments.apps",
    "/dashboard/flow/",
    "/dashboard/watchers/",
    "/dashboard/rings/",
    "/dashboard/rings/configmaps/?from=1",
    "/dashboard/attach/",
    "/dashboard/informers/",
    "/dashboard/learn/",
    "/dashboard/learn/pod/",
    "/dashboard/learn/compare/",
    "/dashboard/faults/",
    "/dashboard/patterns/",
)
STILL = ("/dashboard/patterns/",)  # those that have no socket even where scripts run

# Theme and width. The short run takes a telephone and a desk, the long one all of them.
SAMPLE = (("light", 390), ("dark", 1280))
LOOKS = (*SAMPLE, ("light", 1280), ("dark", 390), ("light", 1920), ("dark", 1920))
EACH_LOOK = [
    pytest.param(*look, marks=() if look in SAMPLE else pytest.mark.full) for look in LOOKS
]
