from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from listwatch.protocol.kinds import GroupVersionKind
from listwatch.schemas.merge_keys import PatchSchema, schema_for

if TYPE_CHECKING:
    from listwatch.patches import patch_schema

POD = GroupVersionKind("", "v1", "Pod")


def at(path: str, gvk: GroupVersionKind = POD) -> PatchSchema:
    place = schema_for(gvk)
    for step in path.split("."):
        assert place is not None, path
        place = place.items if step == "*" else place.field(step)
    assert place is not None, path
    return place


@pytest.mark.parametrize(
    ("path", "key", "strategies"),
    [
        ("metadata.labels", "", set()),
        ("metadata.finalizers", "", {"merge"}),
        ("metadata.ownerReferences", "uid", {"merge"}),
        ("spec.containers", "name", {"merge"}),
        ("spec.containers.*.ports", "containerPort", {"merge"}),
        ("spec.containers.*.env", "name", {"merge"}),
        ("spec.containers.*.args", "", set()),
        ("spec.volumes", "name", {"merge", "retainKeys"}),
        ("spec.tolerations", "", set()),
        ("status.conditions", "type", {"merge"}),
    ],
)
def test_places_of_a_pod(path: str, key: str, strategies: set[str]) -> None:
    assert (at(path).merge_key, set(at(path).strategies)) == (key, strategies)


def test_a_strategy_may_stand_on_an_object() -> None:
    strategy = at("spec.strategy", GroupVersionKind("apps", "v1", "Deployment"))

    assert strategy.strategies == {"retainKeys"}
    assert not strategy.is_list


def test_any_key_of_a_map_has_the_schema_of_its_values() -> None:
    labels = at("metadata.labels")

    assert labels.is_map
    assert labels.field("a") is labels.field("b") is not None


def test_a_field_that_the_kind_does_not_have_has_no_schema() -> None:
    assert at("spec").field("none") is None
    assert at("metadata.name").field("none") is None
    assert at("metadata.name").items is None


def test_a_kind_that_is_not_built_in_has_no_schema() -> None:
    assert schema_for(GroupVersionKind("a.test", "v1", "Own")) is None


def test_a_schema_is_what_patches_expect() -> None:
    schema: patch_schema.PatchSchema | None = schema_for(POD)

    assert schema is not None
