"""The addresses of all pages: tests of every page read this."""

from __future__ import annotations

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
