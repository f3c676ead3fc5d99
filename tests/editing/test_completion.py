from __future__ import annotations

from typing import Any

import pytest

from listwatch.editing.completion import completions
from listwatch.schemas.kinds import builtin_resources

RESOURCES = builtin_resources()


def fields(api_version: str, kind: str, *path: str) -> dict[str, dict[str, Any]]:
    found = completions(RESOURCES, api_version, kind, path)["fields"]
    return {field["name"]: field for field in found}


def test_fields_are_those_of_the_schema_with_their_types() -> None:
    spec = fields("apps/v1", "Deployment", "spec")

    assert spec["replicas"]["type"] == "integer"
    assert spec["selector"] == spec["selector"] | {"type": "object", "required": True}
    assert list(spec)[:2] == ["selector", "template"]  # what must be there stands first
    assert fields("v1", "Pod", "spec")["containers"]["type"] == "[]object"
    assert fields("v1", "ConfigMap")["data"]["type"] == "map of string"


def test_elements_of_lists_and_values_of_maps_have_their_own() -> None:
    container = fields("apps/v1", "Deployment", "spec", "template", "spec", "containers", "[]")

    assert {"name", "image", "ports"} <= set(container)
    assert fields("v1", "ConfigMap", "data", "anything") == {}


@pytest.mark.parametrize(
    ("path", "values"),
    [
        (("spec", "restartPolicy"), ["Always", "Never", "OnFailure"]),
        (("spec", "hostNetwork"), ["true", "false"]),
        (("spec", "nodeName"), []),
    ],
)
def test_values_are_what_the_schema_allows(path: tuple[str, ...], values: list[str]) -> None:
    found = completions(RESOURCES, "v1", "Pod", path)["values"]

    assert sorted(found) == sorted(values)


def test_api_versions_and_kinds_complete_before_there_is_a_schema() -> None:
    assert "apps/v1" in completions(RESOURCES, "", "", ["apiVersion"])["values"]
    kinds = completions(RESOURCES, "apps/v1", "", ["kind"])["values"]
    assert "Deployment" in kinds
    assert "Pod" not in kinds
    assert set(fields("", "")) == {"apiVersion", "kind"}


@pytest.mark.parametrize("path", [("spec", "no", "such"), ("[]",), ("metadata", "name", "x")])
def test_places_of_which_nothing_is_known_give_nothing(path: tuple[str, ...]) -> None:
    assert completions(RESOURCES, "v1", "Pod", path) == {"fields": [], "values": []}
    assert fields("v1", "Nothing") == {}
    assert fields("no/such", "Thing") == {"apiVersion": {"name": "apiVersion", "type": "string"},
                                          "kind": {"name": "kind", "type": "string"}}  # fmt: skip
