"""What a container's values and volumes are taken from, and which references are none."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.protocol.names import qualified_name_faults, subdomain_faults
from tests.schemas.validated import LABEL, POD, Document, pod, told

FIELDS = (
    '"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", '
    '"spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"'
)
RESOURCES = (
    '"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", '
    '"requests.ephemeral-storage", "requests.memory"'
)
BYTES = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei"
VARIABLE = (
    "a valid environment variable name must consist only of printable ASCII characters other than "
    "'='"
)
(SUBDOMAIN,) = subdomain_faults("")


def container(volumes: list[Document], **fields: Any) -> Document:  # Any: JSON
    return pod(containers=[{"name": "main", "image": "i:1", **fields}], volumes=volumes)


def variable(*volumes: Document, value: str = "", **source: Any) -> list[str]:  # Any: JSON
    env = [{"name": "A", "value": value, "valueFrom": source}]
    field = "spec.containers[0].env[0].valueFrom"
    faults = told(POD, container(list(volumes), env=env))
    return [text.removeprefix(field) for text in faults]


def volume(**source: Any) -> list[str]:  # Any: JSON
    faults = told(POD, pod(volumes=[{"name": "v", **source}]))
    return [text.removeprefix("spec.volumes[0].") for text in faults]


@pytest.mark.parametrize(
    ("resource", "taken", "refused", "why"),
    [
        (
            "limits.cpu",
            (None, "0", "1", "1m", "1000m", "0.001"),
            ("2", "1k", "1Ki", "1e3", "-1"),
            "1m and 1 are supported with the cpu resource",
        ),
        (
            "requests.memory",
            (None, "0", "1", "1000", "1k", "1Ki", "1E", "1Ei"),
            ("1m", "2", "1024", "1e3", "-1"),
            f"{BYTES} are supported with the memory resource",
        ),
        (
            "limits.ephemeral-storage",
            (None, "1Mi"),
            ("1m", "2Mi"),
            f"{BYTES} are supported with the local ephemeral storage resource",
        ),
        (
            "requests.hugepages-2Mi",
            (None, "1Mi"),
            ("1m", "2Mi"),
            f"{BYTES} are supported with the hugepages resource",
        ),
    ],
)
def test_a_resource_is_divided_by_a_round_number(
    resource: str, taken: tuple[str | None, ...], refused: tuple[str, ...], why: str
) -> None:
    def divided(divisor: str | None) -> list[str]:
        return variable(resourceFieldRef={"resource": resource, "divisor": divisor})

    expected = [
        f'.resourceFieldRef.divisor: Invalid value: "{resource}": only divisor\'s values {why}'
    ]
    assert [divisor for divisor in taken if divided(divisor)] == []
    assert [divisor for divisor in refused if divided(divisor) != expected] == []


def test_a_file_names_a_container_whose_resource_it_shows() -> None:
    item = {"path": "a", "resourceFieldRef": {"resource": "limits.cpu", "divisor": "3"}}

    assert volume(downwardAPI={"items": [item]}) == [
        "downwardAPI.resourceFieldRef.containerName: Required value",
        (
            'downwardAPI.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor\'s '
            "values 1m and 1 are supported with the cpu resource"
        ),
    ]


def test_only_some_resources_have_a_name() -> None:
    def named(resource: str) -> list[str]:
        return variable(resourceFieldRef={"resource": resource, "divisor": "3"})

    assert named("") == [".resourceFieldRef.resource: Required value"]
    for resource in ("limits.hugex", "cpu"):
        assert named(resource) == [
            (
                f'.resourceFieldRef.resource: Unsupported value: "{resource}": supported values: '
                f"{RESOURCES}"
            )
        ]


@pytest.mark.parametrize("kind", ["configMapKeyRef", "secretKeyRef"])
def test_a_key_belongs_to_a_named_object(kind: str) -> None:
    sources: list[Document] = [{kind: {}}, {kind: {"name": "a", "key": "k"}}]

    assert variable(**sources[0]) == [
        f'.{kind}.name: Invalid value: "": {SUBDOMAIN}',
        f".{kind}.key: Required value",
    ]
    assert variable(**sources[1]) == []


@pytest.mark.parametrize(
    ("path", "version", "expected"),
    [
        ("", "v1", ".fieldPath: Required value"),
        ("spec.host", "v1", ""),
        ("metadata.labels['a/b']", "v1", ""),
        ("metadata.annotations['A/B']", "", ""),
        (
            "status.phase",
            "v1",
            f'.fieldPath: Unsupported value: "status.phase": supported values: {FIELDS}',
        ),
        (
            "metadata.labels",
            "v1",
            f'.fieldPath: Unsupported value: "metadata.labels": supported values: {FIELDS}',
        ),
        (
            "metadata.labels[a]",
            "v1",
            (
                '.fieldPath: Invalid value: "metadata.labels[a]": error converting fieldPath: '
                "field label not supported: metadata.labels[a]"
            ),
        ),
        (
            "metadata.name['a']",
            "v1",
            (
                ".fieldPath: Invalid value: \"metadata.name['a']\": error converting fieldPath: "
                "field label does not support subscript: metadata.name['a']"
            ),
        ),
        (
            "metadata.name",
            "v2",
            (
                '.fieldPath: Invalid value: "metadata.name": error converting fieldPath: '
                "unsupported pod version: v2"
            ),
        ),
        ("metadata.labels['?']", "v1", f': Invalid value: "?": {qualified_name_faults("?")[0]}'),
    ],
)
def test_a_variable_may_be_a_field_of_the_pod(path: str, version: str, expected: str) -> None:
    faults = variable(fieldRef={"fieldPath": path, "apiVersion": version})

    assert faults == ([f".fieldRef{expected}"] if expected else [])


def test_a_variable_may_be_read_from_a_file_in_an_empty_directory() -> None:
    right = {"key": "k", "volumeName": "v", "path": "a"}
    wrong = {"key": "=", "volumeName": "V", "path": "../a"}
    elsewhere = {"name": "v", "hostPath": {"path": "/a"}}

    assert variable({"name": "v", "emptyDir": {}}, fileKeyRef=right) == []
    assert variable(elsewhere, fileKeyRef=right) == [
        '.fileKeyRef.volumeName: Invalid value: "v": referenced volume must be of type emptyDir'
    ]
    assert variable(fileKeyRef={}) == [
        ".fileKeyRef.key: Required value",
        ".fileKeyRef.volumeName: Required value",
        ".fileKeyRef.path: Required value",
        '.fileKeyRef.volumeName: Not found: ""',
    ]
    assert variable(fileKeyRef=wrong) == [
        f'.fileKeyRef.key: Invalid value: "=": {VARIABLE}',
        f'.fileKeyRef.volumeName: Invalid value: "V": {LABEL}',
        ".fileKeyRef.path: Invalid value: \"../a\": must not contain '..'",
        '.fileKeyRef.volumeName: Not found: "V"',
    ]


def test_a_variable_has_one_source_or_a_value() -> None:
    name, key = {"fieldPath": "metadata.name"}, {"name": "a", "key": "k"}
    one_of = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
    none = f': Invalid value: "": must specify one of: {one_of}'
    both = ': Invalid value: "": may not be specified when `value` is not empty'
    several = ': Invalid value: "": may not have more than one field specified at a time'

    assert variable() == variable(value="x") == [none]
    assert variable(fieldRef=name, value="x") == [both]
    assert variable(fieldRef=name, secretKeyRef=key, value="x") == [both]
    assert variable(fieldRef=name, secretKeyRef=key) == [several]


def test_all_variables_of_an_object_may_get_a_prefix() -> None:
    sources = [
        {"prefix": "=", "configMapRef": {}},
        {"prefix": "a-", "secretRef": {"name": "a-"}},
    ]
    env_from = "spec.containers[0].envFrom"

    assert told(POD, container([], envFrom=sources)) == [
        f'{env_from}[0].prefix: Invalid value: "=": {VARIABLE}',
        f"{env_from}[0].configMapRef.name: Required value",
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            {"csi": {"nodePublishSecretRef": {}}},
            [
                "csi.driver: Required value",
                "csi.nodePublishSecretRef.name: Required value",
            ],
        ),
        (
            {"csi": {"driver": "a", "nodePublishSecretRef": {"name": "?"}}},
            [f'csi.name: Invalid value: "?": {SUBDOMAIN}'],
        ),
        (
            {"cinder": {"secretRef": {}}},
            [
                "cinder.volumeID: Required value",
                "cinder.secretRef.name: Required value",
            ],
        ),
        (
            {"storageos": {"volumeName": "a", "secretRef": {"name": ""}}},
            ["storageos.secretRef.name: Required value"],
        ),
        (
            {"iscsi": {"targetPortal": "a", "iqn": "iqn.a", "chapAuthSession": True}},
            ["iscsi.secretRef: Required value"],
        ),
        (
            {"rbd": {"secretRef": {}}},
            ["rbd.monitors: Required value", "rbd.image: Required value"],
        ),
    ],
)
def test_a_volume_names_the_secret_that_it_needs(source: Document, expected: list[str]) -> None:
    assert volume(**source) == expected
