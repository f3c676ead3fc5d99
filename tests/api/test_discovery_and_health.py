from __future__ import annotations

from dataclasses import replace

import pytest

from listwatch.api.discovery_documents import version_rank
from listwatch.schemas.structural.kinds import StructuralKind
from tests.api.asking import Face

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
# kubectl's
KUBECTL = (
    f"{AGGREGATED},application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
    "application/json"
)


async def test_the_core_group_has_one_version() -> None:
    answer = await Face().ask("GET", "/api")

    assert answer.json == {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [
            {"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}
        ],
    }
    assert answer.header("vary") == []


async def test_groups_come_with_their_preferred_version() -> None:
    face = Face()
    document = (await face.ask("GET", "/apis")).json
    one = (await face.ask("GET", "/apis/apps")).json

    assert document["kind"] == "APIGroupList"
    names = [group["name"] for group in document["groups"]]
    assert [name for name in names if name in ("apps", "batch", "policy", "autoscaling")] == [
        "apps", "autoscaling", "batch", "policy",
    ]  # fmt: skip
    (scaling,) = (group for group in document["groups"] if group["name"] == "autoscaling")
    assert [version["version"] for version in scaling["versions"]] == ["v2", "v1"]
    assert scaling["preferredVersion"]["version"] == "v2"
    version = {"groupVersion": "apps/v1", "version": "v1"}
    assert one == {
        "kind": "APIGroup", "apiVersion": "v1", "name": "apps", "versions": [version],
        "preferredVersion": version,
    }  # fmt: skip


async def test_resources_and_subresources_stand_side_by_side() -> None:
    document = (await Face().ask("GET", "/apis/apps/v1")).json

    entries = {entry["name"]: entry for entry in document["resources"]}
    assert document["groupVersion"] == "apps/v1"
    assert entries["deployments"]["shortNames"] == ["deploy"]
    assert entries["deployments"]["verbs"] == [
        "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch",
    ]  # fmt: skip
    assert entries["deployments"]["storageVersionHash"]
    scale = entries["deployments/scale"]
    assert (scale["group"], scale["version"], scale["kind"]) == ("autoscaling", "v1", "Scale")
    assert "storageVersionHash" not in scale


async def test_everything_in_one_document_for_who_asks() -> None:
    face = Face()
    answer = await face.ask("GET", "/apis", headers={"accept": KUBECTL})

    assert answer.header("content-type") == [AGGREGATED]
    assert answer.header("vary") == ["Accept"]
    groups = {item["metadata"]["name"]: item for item in answer.json["items"]}
    resources = groups["apps"]["versions"][0]["resources"]
    deployments = next(entry for entry in resources if entry["resource"] == "deployments")
    assert (deployments["scope"], deployments["singularResource"]) == ("Namespaced", "deployment")
    assert [s["subresource"] for s in deployments["subresources"]] == ["scale", "status"]


async def test_who_has_the_document_is_told_so() -> None:
    face = Face()
    first = await face.ask("GET", "/api", headers={"accept": AGGREGATED})
    tag = first.header("etag")[0]
    same = await face.ask("GET", "/api", headers={"accept": AGGREGATED, "if-none-match": tag})
    other = await face.ask("GET", "/api", headers={"accept": AGGREGATED, "if-none-match": '"x"'})

    assert (same.status, same.body) == (304, b"")
    assert other.status == 200


@pytest.mark.parametrize("version", ["v2beta1", "v9"])
async def test_another_version_of_it_is_406(version: str) -> None:
    accept = f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"

    assert (await Face().ask("GET", "/apis", headers={"accept": accept})).status == 406
    both = await Face().ask("GET", "/apis", headers={"accept": f"{accept},application/json"})
    assert both.json["kind"] == "APIGroupList"


async def test_it_is_served_at_the_roots_alone() -> None:
    assert (await Face().ask("GET", "/api/v1", headers={"accept": AGGREGATED})).status == 406


async def test_a_new_resource_shows_at_once() -> None:
    face = Face()
    before = await face.ask("GET", "/apis", headers={"accept": AGGREGATED})
    pods = face.runtime.resources.find("", "v1", "pods")
    face.runtime.resources.add(replace(pods, group="my.test", resource="things", kind="Thing"))
    after = await face.ask("GET", "/apis", headers={"accept": AGGREGATED})

    assert before.header("etag") != after.header("etag")
    assert "my.test" in [item["metadata"]["name"] for item in after.json["items"]]
    assert (await face.ask("GET", "/apis/my.test/v1")).status == 200


async def test_health_is_ok_for_anybody_by_any_method() -> None:
    for path in ("/healthz", "/livez", "/readyz"):
        answer = await Face().ask("GET", path, token="")

        assert (answer.status, answer.body) == (200, b"ok")
        assert answer.header("content-type") == ["text/plain; charset=utf-8"]
        assert answer.header("x-content-type-options") == ["nosniff"]
    assert (await Face().ask("HEAD", "/healthz")).body == b""


@pytest.mark.parametrize("accept", ["text/html", "application/cbor", "application/json;as=Table"])
async def test_probes_and_scrapers_get_text_whatever_they_accept(accept: str) -> None:
    for path in ("/healthz", "/openapi/v3"):
        answer = await Face().ask("GET", path, headers={"accept": accept})

        assert answer.status == 200
        assert answer.header("content-type")[0].startswith("text/plain")


@pytest.mark.parametrize(
    ("path", "known"),
    [("/apis/none.test", False), ("/apis/none.test/v1", False), ("/apis/none.test/v1/a", False),
     ("/apis/apps/v9", True), ("/apis/apps/v9/deployments", True), ("/apis/apps/v1/none", True)],
)  # fmt: skip
async def test_a_group_that_is_not_there_is_no_page_and_a_kind_no_resource(
    path: str, known: bool
) -> None:
    answer = await Face().ask("GET", path)

    assert answer.status == 404
    assert answer.body.startswith(b"{") == known
    assert (answer.body == b"404 page not found\n") != known


async def test_a_version_that_a_custom_group_has_not_is_no_page() -> None:
    face = Face()
    pods = face.runtime.resources.find("", "v1", "pods")
    definition = {"name": "v1", "schema": {}}
    kind = StructuralKind(definition, stored=definition, conversion={}, list_kind="ThingList")
    face.runtime.resources.add(
        replace(pods, group="my.test", resource="things", kind="Thing", custom=kind)
    )

    assert (await face.ask("GET", "/apis/my.test/v1")).status == 200
    assert (await face.ask("GET", "/apis/my.test/v9")).body == b"404 page not found\n"


async def test_one_check_alone_says_ok_and_no_more() -> None:
    for path in ("/healthz/ping", "/livez/ping?verbose", "/readyz/watch-cache"):
        answer = await Face().ask("GET", path)

        assert (answer.status, answer.body) == (200, b"ok")
        assert answer.header("x-content-type-options") == []
    assert (await Face().ask("GET", "/healthz/none")).status == 404


async def test_what_is_not_ready_says_which_check_failed() -> None:
    face = Face()
    face.runtime.ready = False
    answer = await face.ask("GET", "/readyz")

    assert answer.status == 500
    assert answer.body == (
        b"[+]ping ok\n[-]watch-cache failed: reason withheld\nreadyz check failed\n"
    )
    assert (await face.ask("GET", "/livez")).status == 200
    assert (await face.ask("GET", "/readyz?exclude=watch-cache")).status == 200


async def test_checks_that_cannot_be_left_out_are_named() -> None:
    answer = await Face().ask("GET", "/livez?verbose&exclude=etcd")

    assert answer.body == (
        b"[+]ping ok\n"
        b'warn: some health checks cannot be excluded: no matches for "etcd"\n'
        b"livez check passed\n"
    )


async def test_the_version_has_one_digit_and_digits() -> None:
    document = (await Face().ask("GET", "/version", token="")).json

    assert document["major"] == "1"
    assert document["minor"].isdigit()
    assert document["gitVersion"].startswith("v1.")


async def test_the_root_lists_paths() -> None:
    paths = (await Face().ask("GET", "/")).json["paths"]

    assert {"/api/v1", "/apis/apps/v1", "/healthz", "/openapi/v3"} <= set(paths)
    assert paths == sorted(paths)


async def test_openapi_documents_are_found_through_their_root() -> None:
    face = Face()
    root = await face.ask("GET", "/openapi/v3")
    url = root.json["paths"]["apis/apps/v1"]["serverRelativeURL"]
    document = await face.ask("GET", url)
    plain = await face.ask("GET", "/openapi/v3/apis/apps/v1")

    assert document.json["openapi"].startswith("3.")
    assert document.header("cache-control") == ["public, immutable"]
    assert document.header("expires")
    assert plain.header("cache-control") == ["no-cache, private"]
    assert plain.header("etag") == document.header("etag")


async def test_an_old_hash_leads_to_the_new_document() -> None:
    face = Face()
    moved = await face.ask("GET", "/openapi/v3/api/v1?hash=OLD")
    found = await face.ask("GET", moved.header("location")[0])

    assert (moved.status, moved.body, found.status) == (301, b"", 200)


async def test_an_openapi_document_that_is_there_is_not_sent_again() -> None:
    face = Face()
    for path in ("/openapi/v2", "/openapi/v3/api/v1"):
        tag = (await face.ask("GET", path)).header("etag")[0]
        again = await face.ask("GET", path, headers={"if-none-match": tag})

        assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize("path", ["apis/none/v1", "api/v2", "api", "x/y/z/a"])
async def test_an_openapi_document_of_nothing_is_404(path: str) -> None:
    for agent in ("kubectl/v1", "curl/8"):
        answer = await Face().ask("GET", f"/openapi/v3/{path}", headers={"user-agent": agent})

        assert (answer.status, answer.body) == (404, b"404 page not found\n")


async def test_the_whole_of_openapi_is_one_document_of_version_2() -> None:
    answer = await Face().ask("GET", "/openapi/v2")

    assert answer.json["swagger"] == "2.0"
    assert (await Face().ask("HEAD", "/openapi/v2")).status == 200


def test_the_most_settled_and_highest_version_of_a_group_comes_first() -> None:
    versions = ["v1alpha1", "other", "v1", "v2beta1", "v10", "v1beta2", "v1beta1", "v2"]

    assert sorted(versions, key=version_rank) == [
        "v10", "v2", "v1", "v2beta1", "v1beta2", "v1beta1", "v1alpha1", "other",
    ]  # fmt: skip


async def test_kubectl_gets_that_document_as_the_protobuf_it_asks_for() -> None:
    asked = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
    answer = await Face().ask("GET", "/openapi/v2", headers={"accept": asked})
    other = await Face().ask("GET", "/version", headers={"accept": asked})

    assert answer.header("content-type") == [asked.replace("@", ".")]
    assert answer.body.startswith(b"\x0a\x032.0")
    assert other.status == 406
