"""Bodies of requests as objects: JSON, YAML, protobuf, and the patches.

DRF's parsers; which one is chosen is `negotiation`'s, and what the object must look like is the
registry's business. A body that cannot be read is a 400 that says where it breaks.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, NamedTuple

import orjson
from rest_framework.parsers import BaseParser

from listwatch.api.negotiation import JSON, PROTOBUF, YAML
from listwatch.protocol import yaml_documents
from listwatch.protocol.errors import bad_request, go_word
from listwatch.protocol.options import APPLY_PATCH
from listwatch.schemas import duplicates, protobuf

if TYPE_CHECKING:
    from collections.abc import Mapping

    from listwatch.protocol.objects import JSONObject

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"


class Body(NamedTuple):
    """What was sent: an object, and the paths of keys that stood twice in it.

    If there are such, `members` are the paths of all keys in order, and whether each came again.
    """

    document: JSONObject
    duplicates: tuple[str, ...] = ()
    members: tuple[tuple[str, bool], ...] = ()


class _WholeParser(BaseParser):
    """Reads a body that is there as a whole."""

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,  # Any: DRF's context
    ) -> Any:  # Any: what `read` gives
        """What `read` makes of the bytes."""
        return self.read(stream.read())

    def read(self, body: bytes) -> Any:  # Any: a Body, or a patch
        """What was sent; raises 400."""
        raise NotImplementedError


class JSONParser(_WholeParser):
    """A JSON object. Keys that stand twice are merged as Go merges them, and named."""

    media_type = JSON

    def read(self, body: bytes) -> Body:
        """The object; raises 400."""
        try:
            loaded = duplicates.load(body)
        except ValueError as error:
            raise _unreadable("json parse error", error) from None
        document = _object(loaded.document)
        return Body(document, tuple(loaded.duplicates), tuple(loaded.members))


class YAMLParser(_WholeParser):
    """A YAML document, or JSON, which it contains."""

    media_type = YAML

    def read(self, body: bytes) -> Body:
        """The object; raises 400."""
        try:
            document, again = yaml_documents.load(body)
        except ValueError as error:
            raise _unreadable("yaml parse error", error) from None
        return Body(_object(document), again)


class ProtobufParser(_WholeParser):
    """An object in Kubernetes' protobuf envelope, as kubectl and typed Go clients send it."""

    media_type = PROTOBUF

    def read(self, body: bytes) -> Body:
        """The object; raises 400."""
        return Body(_object(protobuf.read(body)))


class PatchParser(_WholeParser):
    """A patch in JSON, whatever value it is: the kind of patch decides what it must be."""

    def read(self, body: bytes) -> Any:  # Any: an object, or a list of operations
        """The patch; raises 400."""
        try:
            return orjson.loads(body)
        except ValueError as error:
            raise bad_request(f"error decoding patch: {error}") from None


class JSONPatchParser(PatchParser):
    """RFC 6902."""

    media_type = JSON_PATCH


class MergePatchParser(PatchParser):
    """RFC 7386."""

    media_type = MERGE_PATCH


class StrategicMergePatchParser(PatchParser):
    """Kubernetes' own, which knows what the lists of a kind are keyed by."""

    media_type = STRATEGIC_PATCH


class ApplyPatchParser(_WholeParser):
    """A configuration for server-side apply, in YAML or in JSON, which that contains."""

    media_type = APPLY_PATCH

    def read(self, body: bytes) -> Body:
        """What was sent, and what is wrong with its keys in a YAML reader's words; raises 400."""
        try:
            loaded = duplicates.load(body)
        except ValueError:
            pass  # it is no JSON
        else:
            if not loaded.members:
                return Body(loaded.document)
        try:
            document, repeated = yaml_documents.load_by_line(body)
        except ValueError as error:
            raise bad_request(f"error decoding YAML: {error}") from None
        return Body(document, repeated)


def _object(document: Any) -> JSONObject:  # Any: whatever was sent
    if document is None:
        return {}
    if isinstance(document, dict):
        return document
    raise _unreadable(
        "json parse error",
        ValueError(
            f"json: cannot unmarshal {go_word(document)} into Go value of type struct "
            '{ APIVersion string "json:\\"apiVersion,omitempty\\""; '
            'Kind string "json:\\"kind,omitempty\\"" }'
        ),
    )


def _unreadable(what: str, error: ValueError) -> Exception:
    return bad_request(f"couldn't get version/kind; {what}: {error}")
