"""The menu of resources: no two that look the same, and no word that stands for another."""

from __future__ import annotations

import pytest
from django.test import AsyncClient

from dashboard.choices import chosen_resource, resource_groups, resource_path
from listwatch.protocol.errors import StatusError
from listwatch.registry.resources import ResourceTable
from tests.dashboard.test_pages import client

__all__ = ["client"]
WATCHABLE = [each for each in ResourceTable().served() if "watch" in each.verbs]


def test_no_two_have_the_same_title() -> None:
    options = [option for group in resource_groups(WATCHABLE) for option in group["resources"]]
    titles = {option["value"]: option["title"] for option in options}

    assert len(set(titles.values())) == len(WATCHABLE)
    assert titles["v1/pods"] == "pods"
    assert titles["apps/v1/deployments"] == "deployments"
    assert titles["v1/events"] == "events"
    assert titles["events.k8s.io/v1/events"] == "events.events.k8s.io"
    assert titles["autoscaling/v1/horizontalpodautoscalers"] == (
        "horizontalpodautoscalers.v1.autoscaling"
    )
    assert titles["autoscaling/v2/horizontalpodautoscalers"] == (
        "horizontalpodautoscalers.v2.autoscaling"
    )


def test_each_is_found_by_what_the_menu_sends() -> None:
    assert [chosen_resource(WATCHABLE, resource_path(each)) for each in WATCHABLE] == WATCHABLE


@pytest.mark.parametrize("path", ["nope", "", "pods", "v1/nope", "v2/pods", "v1/pods/"])
def test_what_is_not_in_it_is_refused(path: str) -> None:
    with pytest.raises(StatusError) as refused:
        chosen_resource(WATCHABLE, path)

    assert refused.value.code == 400
    assert f'resource: there is no "{path}" to watch' in refused.value.message


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("page", ["attach", "informers"])
async def test_an_address_with_an_unknown_resource_is_refused(
    client: AsyncClient, page: str
) -> None:
    response = await client.get(f"/dashboard/{page}/?resource=nope")

    assert response.status_code == 400
    assert "there is no &quot;nope&quot; to watch" in response.content.decode()
    assert (await client.get(f"/dashboard/{page}.json?resource=nope")).status_code == 400
    for known in ("", "v1/secrets"):
        assert (await client.get(f"/dashboard/{page}/?resource={known}")).status_code == 200
