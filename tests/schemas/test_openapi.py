from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from listwatch.schemas import protobuf
from listwatch.schemas.kinds import builtin_resources, kept_resources
from listwatch.schemas.openapi import openapi_v2, openapi_v3, openapi_v3_index
from tests.schemas.fake_server import FakeServer, fake_server


def v3(group_version: str) -> dict[str, Any]:  # Any: OpenAPI
    document = openapi_v3(group_version)
    assert document is not None
    parsed: dict[str, Any] = json.loads(document.body)
    return parsed


GROUP_VERSIONS = sorted({resource.api_version for resource in builtin_resources()})


@pytest.mark.parametrize("group_version", GROUP_VERSIONS)
def test_every_reference_leads_to_a_schema(group_version: str) -> None:
    document = v3(group_version)
    wanted = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document)))

    assert wanted <= set(document["components"]["schemas"])


def test_every_kind_can_be_patched_with_validation_by_the_server() -> None:
    for resource in kept_resources():
        patches = [
            item["patch"]
            for item in v3(resource.api_version)["paths"].values()
            if "patch" in item
            and item["patch"]["x-kubernetes-group-version-kind"]["kind"] == resource.kind
        ]

        assert patches, resource.kind
        for patch in patches:
            assert "fieldValidation" in {parameter["name"] for parameter in patch["parameters"]}
            content = patch["requestBody"]["content"]
            assert "application/strategic-merge-patch+json" in content


def test_paths_are_those_that_are_served() -> None:
    paths = v3("v1")["paths"]

    assert {
        "/api/v1/pods",
        "/api/v1/namespaces/{namespace}/pods",
        "/api/v1/namespaces/{namespace}/pods/{name}",
        "/api/v1/namespaces/{namespace}/pods/{name}/status",
        "/api/v1/namespaces/{namespace}/pods/{name}/binding",
        "/api/v1/namespaces",
        "/api/v1/namespaces/{name}",
        "/api/v1/namespaces/{name}/finalize",
    } <= set(paths)
    assert "/api/v1/namespaces/{namespace}/serviceaccounts/{name}/none" not in paths
    assert "delete" not in paths["/api/v1/namespaces"]


def test_the_index_leads_to_each_document_by_its_hash() -> None:
    paths = json.loads(openapi_v3_index().body)["paths"]

    assert set(paths) == {"api/v1"} | {f"apis/{gv}" for gv in GROUP_VERSIONS if "/" in gv}
    document = openapi_v3("apps/v1")
    assert document is not None
    assert paths["apis/apps/v1"]["serverRelativeURL"].endswith(f"?hash={document.etag}")


def test_the_tag_changes_with_what_is_served() -> None:
    fewer = [r for r in builtin_resources() if r.resource != "pods"]
    document, smaller = openapi_v3("v1"), openapi_v3("v1", fewer)

    assert document is not None
    assert smaller is not None
    assert document.etag != smaller.etag
    assert document == openapi_v3("v1")


def test_a_group_version_that_is_not_served_has_no_document() -> None:
    assert openapi_v3("a.test/v1") is None


def test_version_2_has_every_definition_it_points_to_and_no_words_of_version_3() -> None:
    text = openapi_v2().body.decode()
    document = json.loads(text)

    assert set(re.findall(r'"#/definitions/([^"]+)"', text)) <= set(document["definitions"])
    for word in ('"#/components/', '"oneOf":[', '"requestBody"', '"allOf":[{"$ref"'):
        assert word not in text
    port = document["definitions"]["io.k8s.api.core.v1.ServicePort"]["properties"]["targetPort"]
    assert port == {"type": "string", "format": "int-or-string"}


KUBECTLS = [
    path
    for path in (
        str(Path(sys.executable).parent / "kubectl"),
        shutil.which("kubectl.1.32") or "/usr/lib/google-cloud-sdk/bin/kubectl.1.32",
    )
    if Path(path).exists()
]


@pytest.fixture
def server() -> Any:  # Any: a generator of one server
    with fake_server() as server:
        yield server


def kubectl(
    program: str, server: FakeServer, home: Path, *arguments: str, text: str = ""
) -> subprocess.CompletedProcess[str]:
    command = [program, f"--server={server.url}", *arguments]
    environment = {**os.environ, "HOME": str(home), "KUBECONFIG": str(home / "none")}
    return subprocess.run(
        command,
        input=text,
        capture_output=True,
        text=True,
        env=environment,
        timeout=30,
        check=False,
    )


@pytest.mark.external
@pytest.mark.parametrize("program", KUBECTLS)
def test_kubectl_explains_kinds(program: str, server: FakeServer, tmp_path: Path) -> None:
    done = kubectl(program, server, tmp_path, "explain", "deployments.spec.strategy")

    assert done.returncode == 0, done.stderr
    assert "rollingUpdate" in done.stdout
    assert "RollingUpdateDeployment" in done.stdout


@pytest.mark.external
@pytest.mark.parametrize("program", KUBECTLS)
def test_kubectl_leaves_validation_to_the_server(
    program: str, server: FakeServer, tmp_path: Path
) -> None:
    """It does so only if the documents tell it; else it would refuse the unknown field itself."""
    body = json.dumps(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "unknown": 1}
    )
    kubectl(program, server, tmp_path, "create", "-f", "-", text=body)

    assert [sent.path for sent in server.sent] == [
        "/api/v1/namespaces/default/configmaps?fieldManager=kubectl-create&fieldValidation=Strict"
    ]
    assert json.loads(server.sent[0].body)["unknown"] == 1


@pytest.mark.external
@pytest.mark.parametrize("program", KUBECTLS)
def test_kubectl_sends_protobuf_that_is_read(
    program: str, server: FakeServer, tmp_path: Path
) -> None:
    kubectl(program, server, tmp_path, "create", "configmap", "x", "--from-literal=a=b")

    assert server.sent[0].content_type == "application/vnd.kubernetes.protobuf"
    assert protobuf.read(server.sent[0].body) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "x"},
        "data": {"a": "b"},
    }
