from __future__ import annotations

import pytest

from listwatch.api.negotiation import JSON, OBJECTS, YAML, negotiate, pretty
from listwatch.protocol.errors import StatusError


@pytest.mark.parametrize(
    ("accept", "media_type", "kind", "version"),
    [
        ("", JSON, "", ""),
        ("*/*", JSON, "", ""),
        ("application/*", JSON, "", ""),
        ("application/yaml", YAML, "", ""),
        ("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", JSON, "Table", "v1"),
        # kubectl's
        (("application/json;as=Table;v=v1;g=meta.k8s.io,"
         "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"),
         JSON, "Table", "v1"),
        ("application/json,application/json;as=Table;v=v1;g=meta.k8s.io", JSON, "", ""),
        ("application/json;as=Table;v=v9;g=meta.k8s.io,application/json", JSON, "", ""),
        # client-go's
        ("application/vnd.kubernetes.protobuf,application/json", JSON, "", ""),
        (("application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
         "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"),
         JSON, "PartialObjectMetadata", "v1"),
        ("application/json;q=0.1,application/yaml;q=0.5", YAML, "", ""),
        ("text/html, application/yaml;q=0.9, */*;q=0.8", YAML, "", ""),
    ],
)  # fmt: skip
def test_the_first_clause_that_can_be_honoured_is(
    accept: str, media_type: str, kind: str, version: str
) -> None:
    form = negotiate(accept, OBJECTS)

    assert (media_type, kind, version) == (form.media_type, form.kind, form.version)


@pytest.mark.parametrize(
    "accept",
    ["text/html", "application/json;as=Table;v=v9;g=meta.k8s.io", "application/xml",
     "application/json;as=Table", "application/json;stream=other"],
)  # fmt: skip
def test_what_cannot_be_honoured_is_406(accept: str) -> None:
    with pytest.raises(StatusError) as caught:
        negotiate(accept, OBJECTS)

    assert (caught.value.code, caught.value.reason) == (406, "NotAcceptable")
    assert "application/json, application/yaml" in caught.value.message


def test_who_asks_for_protobuf_alone_is_not_told_to_ask_for_protobuf() -> None:
    with pytest.raises(StatusError) as caught:
        negotiate("application/vnd.kubernetes.protobuf")

    assert "protobuf" not in caught.value.message


def test_a_stream_is_json_alone() -> None:
    assert (
        negotiate("application/yaml,application/json;stream=watch", stream=True).media_type == JSON
    )
    with pytest.raises(StatusError):
        negotiate("application/yaml", stream=True)


def test_indented_for_people_unless_they_say_otherwise() -> None:
    assert pretty({}, "curl/8.1")
    assert pretty({"pretty": ["true"]}, "kubectl/v1")
    assert not pretty({"pretty": ["0"]}, "Mozilla/5.0 (X11)")
    assert not pretty({"pretty": ["yes"]}, "curl/8.1")
    assert not pretty({}, "kubectl/v1.37")
