"""`/dashboard/informers/`: the form; what is attached lives with the page that attached it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboard.choices import chosen_resource, resource_groups, resource_path
from dashboard.pages import Shown, page, runtime_of

if TYPE_CHECKING:
    from django.http import HttpRequest


@page("informers")
async def informers(request: HttpRequest) -> Shown:
    """What may be followed."""
    runtime = runtime_of(request)
    watchable = [each for each in runtime.resources.served() if "watch" in each.verbs]
    wanted = request.GET.get("resource") or "v1/configmaps"
    chosen_resource(watchable, wanted)
    form = {**dict(request.GET.items()), "resource": wanted}
    data = {"resources": [resource_path(each) for each in watchable]}
    context = {"form": form, "groups": resource_groups(watchable)}
    return Shown(data, context)
