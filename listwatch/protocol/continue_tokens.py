r"""Continue tokens: where the next page of a list begins, and at which revision.

The form is public (clients decode it, and a token outlives the process that wrote it), so it is
kube-apiserver's: base64url without padding of `{"v":"meta.k8s.io/v1","rv":R,"start":"/name\0"}`.
`registry` reads a token before it asks the cache, and writes the next one into the list.
"""

from __future__ import annotations

import base64
import binascii
import posixpath
import re
from dataclasses import dataclass

import orjson

from listwatch.protocol.errors import StatusError, bad_request

_VERSION = "meta.k8s.io/v1"
_ALPHABET = re.compile(r"[A-Za-z0-9_-]*")
NEWEST = -1  # the revision of a token that goes on at whatever is newest then


@dataclass(frozen=True, slots=True)
class ContinueToken:
    """`start` is the first key of the next page, relative to the listed namespace.

    `revision` pins the state that the pages show; NEWEST (-1) means a list that is no longer
    consistent with its first page. A token says nothing about the namespace, so whoever replays it
    elsewhere gets that other namespace and never more than he may list.
    """

    start: str
    revision: int

    @classmethod
    def after(cls, key: str, namespace: str, revision: int) -> ContinueToken:
        """The token for what comes strictly after this key of a list of `namespace` ('': all)."""
        relative = key.removeprefix(f"{namespace}/") if namespace else key
        return cls(relative if relative.endswith("\0") else relative + "\0", revision)

    def start_key(self, namespace: str) -> str:
        """The first key of the page among all keys of the resource."""
        return f"{namespace}/{self.start}" if namespace else self.start

    def encode(self) -> str:
        """The token as it goes into `metadata.continue`."""
        # Upstream's cache writes the slash, its storage, which makes the others, does not.
        start = self.start if self.revision == NEWEST else "/" + self.start
        document = {"v": _VERSION, "rv": self.revision, "start": start}
        return base64.urlsafe_b64encode(orjson.dumps(document)).rstrip(b"=").decode()


def decode(token: str) -> ContinueToken:
    """Read a token; raises 400 for what is none."""
    document = _document(token)
    version, revision, start = document.get("v"), document.get("rv", 0), document.get("start", "")
    if version != _VERSION:
        raise _invalid(f"server does not recognize this encoded version {version or ''}")
    if not isinstance(revision, int) or not isinstance(start, str):
        raise _invalid("json: cannot unmarshal into Go value of type storage.continueToken")
    if not revision:
        raise _invalid(f"incorrect encoded start resourceVersion (version {_VERSION})")
    if not start:
        raise _invalid(f"encoded start key empty (version {_VERSION})")
    absolute = start if start.startswith("/") else "/" + start
    # A start that climbs out of the listed prefix would read other namespaces.
    if posixpath.normpath(absolute) != absolute or absolute.startswith("//"):
        raise _invalid(start)
    return ContinueToken(absolute[1:], revision)


def _document(token: str) -> dict[str, object]:
    good = _ALPHABET.match(token)
    at = good.end() if good else 0
    if at != len(token):
        raise _invalid(f"illegal base64 data at input byte {at}")
    try:
        data = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except binascii.Error:
        raise _invalid(f"illegal base64 data at input byte {len(token) - 1}") from None
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError:
        if data[:1] in (b"{", b"["):
            raise _invalid("unexpected end of JSON input") from None
        first = data[:1].decode("latin-1")
        raise _invalid(f"invalid character '{first}' looking for beginning of value") from None
    if not isinstance(document, dict):
        raise _invalid("json: cannot unmarshal into Go value of type storage.continueToken")
    return document


def _invalid(why: str) -> StatusError:
    return bad_request(f"invalid continue token: continue key is not valid: {why}")
