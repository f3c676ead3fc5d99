"""Answers as bytes: JSON by splicing, indented JSON for people, YAML; Tables and metadata likewise.

DRF's renderers, which write in pieces: `render` joins what `pieces` yields. None of them holds
state, and no object is encoded again where its stored bytes can be spliced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from rest_framework.renderers import BaseRenderer

from listwatch.api.forms import Collection, form_of
from listwatch.api.negotiation import JSON, OPENAPI, PARTIAL, PARTIAL_LIST, TABLE, YAML, Form
from listwatch.api.wrapping import plain
from listwatch.protocol import yaml_documents

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Context = dict[str, Any]  # Any: DRF's renderer context
_YAML_ITEMS = 4  # objects a piece: one of them takes milliseconds


class KubernetesRenderer(BaseRenderer):
    """Writes what `forms` makes of an answer, in the negotiated media type."""

    media_type = JSON
    format = "json"
    charset = None
    kinds: frozenset[str] = frozenset({""})

    def writes(self, form: Form) -> bool:
        """Whether this renderer writes that form."""
        return form.kind in self.kinds and form.media_type == self.media_type

    def content_type(self, context: Context) -> str:
        """The Content-Type of the answer."""
        return plain(context["request"]).form.media_type

    def pieces(
        self, data: Any, context: Context
    ) -> Iterator[bytes]:  # Any: whatever a view answers
        """The body, piece by piece; raises what cannot be written before the first one."""
        request = plain(context["request"])
        made = form_of(data, request)
        if request.form.media_type == YAML:
            return _yaml(made)
        return _indented(made) if request.pretty else _compact(made)

    def render(
        self,
        data: Any,  # Any: whatever a view answers
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,  # Any: DRF's context
    ) -> bytes:
        """The whole body."""
        return b"".join(self.pieces(data, dict(renderer_context or {})))


class JSONRenderer(KubernetesRenderer):
    """Objects and lists as they are."""


class YAMLRenderer(KubernetesRenderer):
    """The same in YAML."""

    media_type = YAML
    format = "yaml"


class TransformRenderer(KubernetesRenderer):
    """Tables and metadata, in JSON or YAML."""

    kinds = frozenset({TABLE, PARTIAL, PARTIAL_LIST})

    def writes(self, form: Form) -> bool:
        """Whether this renderer writes that form."""
        return form.kind in self.kinds


class TextRenderer(KubernetesRenderer):
    """Text for people and scrapers, which nobody negotiates about."""

    media_type = "text/plain"
    format = "text"

    def writes(self, form: Form) -> bool:
        """Every form: whoever asks for text gets text."""
        return True

    def content_type(self, context: Context) -> str:
        """The Content-Type of the answer."""
        return "text/plain; charset=utf-8"

    def pieces(self, data: Any, context: Context) -> Iterator[bytes]:  # Any: text, or a Status
        """The text."""
        return iter((data.encode() if isinstance(data, str) else orjson.dumps(data),))


class OpenAPIRenderer(KubernetesRenderer):
    """The OpenAPI document of version 2 as protobuf, for whoever asks for it first."""

    media_type = OPENAPI

    def content_type(self, context: Context) -> str:
        """The Content-Type of the answer; its name is another than the one that is asked for."""
        return "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

    def pieces(self, data: Any, context: Context) -> Iterator[bytes]:  # Any: bytes, or a Status
        """The message."""
        return iter((data if isinstance(data, bytes) else orjson.dumps(data),))


STATUS_RENDERERS = {JSON: JSONRenderer(), YAML: YAMLRenderer()}


def _compact(made: bytes | Collection) -> Iterator[bytes]:
    if not isinstance(made, Collection):
        yield made + b"\n"
        return
    start = b'%b,"%b":[' % (orjson.dumps(made.head)[:-1], made.key.encode())
    for piece in made.joined or (b",".join((b"", *batch)) for batch in made.batches):
        yield start + piece[1:] if start else piece
        start = b""
    yield start + b"]}\n"


def _indented(made: bytes | Collection) -> Iterator[bytes]:
    if not isinstance(made, Collection):
        yield orjson.dumps(orjson.loads(made), option=orjson.OPT_INDENT_2) + b"\n"
        return
    start = b'%b,\n  "%b": [' % (
        orjson.dumps(made.head, option=orjson.OPT_INDENT_2)[:-2],
        made.key.encode(),
    )
    separator = b"\n    "
    for batch in made.batches:
        texts = []
        for item in batch:
            text = orjson.dumps(orjson.loads(item), option=orjson.OPT_INDENT_2)
            # No text holds a newline of its own: JSON escapes it.
            texts += [separator, text.replace(b"\n", b"\n    ")]
            separator = b",\n    "
        yield start + b"".join(texts)
        start = b""
    yield start + (b"]\n}\n" if start else b"\n  ]\n}\n")


def _yaml(made: bytes | Collection) -> Iterator[bytes]:
    if not isinstance(made, Collection):
        yield yaml_documents.dump(orjson.loads(made))
        return
    before = {key: value for key, value in made.head.items() if key < made.key}
    after = {key: value for key, value in made.head.items() if key > made.key}
    start = (yaml_documents.dump(before) if before else b"") + made.key.encode() + b":"
    empty = True
    for batch in made.batches:
        for at in range(0, len(batch), _YAML_ITEMS):
            items = [orjson.loads(item) for item in batch[at : at + _YAML_ITEMS]]
            yield (start + b"\n" if empty else b"") + yaml_documents.dump_items(items)
            empty = False
    yield (start + b" []\n" if empty else b"") + (yaml_documents.dump(after) if after else b"")
