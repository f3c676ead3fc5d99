"""Which form the answer takes and which form the body has, by Accept and Content-Type.

Kubernetes' Accept has parameters of its own: `as`, `g` and `v` ask for another kind (a Table, the
metadata alone, aggregated discovery), `stream` for a watch. Clauses are tried in order of
preference, and one that cannot be honoured is skipped. `renderers` write what was chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from rest_framework.negotiation import BaseContentNegotiation

from listwatch.api.wrapping import plain
from listwatch.protocol.errors import StatusError, not_acceptable, unsupported_media_type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rest_framework.parsers import BaseParser
    from rest_framework.renderers import BaseRenderer
    from rest_framework.request import Request

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
OPENAPI = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
MEDIA_TYPES = (JSON, YAML, PROTOBUF)  # as kube-apiserver names them
META = "meta.k8s.io"
TABLE = "Table"
PARTIAL = "PartialObjectMetadata"
PARTIAL_LIST = "PartialObjectMetadataList"
OBJECTS = frozenset(
    (META, version, kind)
    for version in ("v1", "v1beta1")
    for kind in (TABLE, PARTIAL, PARTIAL_LIST)
)
NOTHING: frozenset[tuple[str, str, str]] = frozenset()
_PRETTY_AGENTS = ("curl", "Wget", "Mozilla/5.0")  # a person reads
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})


@dataclass(frozen=True, slots=True)
class Form:
    """The form of an answer: a media type, and the kind it is turned into ('': as it is)."""

    media_type: str = JSON
    kind: str = ""
    group: str = ""
    version: str = ""
    pretty: bool = False

    @property
    def api_version(self) -> str:
        """The apiVersion of what it is turned into."""
        return f"{self.group}/{self.version}"


def negotiate(
    accept: str, transforms: frozenset[tuple[str, str, str]] = NOTHING, *, stream: bool = False
) -> Form:
    """Choose by Accept; raises 406.

    `transforms` are the kinds this answer can be turned into, as group, version and kind.
    `stream` rules out what cannot be sent event by event.
    """
    form = _negotiate(accept, transforms, stream)
    if form is None:
        # Protobuf is read, not written: whoever asks for it alone must not be told to.
        named = [t for t in MEDIA_TYPES if t != PROTOBUF or PROTOBUF not in accept]
        raise not_acceptable(named)
    return form


@lru_cache(maxsize=1024)
def _negotiate(
    accept: str, transforms: frozenset[tuple[str, str, str]], stream: bool
) -> Form | None:
    if not accept.strip():
        return Form()
    for media_type, parameters in _clauses(accept):
        for offered in (JSON, YAML):
            main, _, sub = media_type.partition("/")
            if (
                media_type != offered
                and media_type != "*/*"
                and (main, sub) != ("application", "*")
            ):
                continue
            form = _accepted(offered, parameters, transforms, stream=stream)
            if form is not None:
                return form
    return None


def _accepted(
    media_type: str,
    parameters: dict[str, str],
    transforms: frozenset[tuple[str, str, str]],
    *,
    stream: bool,
) -> Form | None:
    if (stream or parameters.get("stream")) and media_type != JSON:
        return None
    if parameters.get("stream") not in (None, "", "watch"):
        return None
    wanted = tuple(parameters.get(name, "") for name in ("g", "v", "as"))
    if any(name in parameters for name in ("g", "v", "as")) and wanted not in transforms:
        return None
    group, version, kind = wanted
    return Form(media_type, kind, group, version, pretty=parameters.get("pretty") == "1")


def _clauses(accept: str) -> list[tuple[str, dict[str, str]]]:
    clauses = []
    for text in accept.split(","):
        media_type, *rest = (part.strip() for part in text.split(";"))
        if "/" not in media_type and media_type != "*":
            continue
        pairs = (part.partition("=") for part in rest if part)
        parameters = {name.strip(): value.strip().strip('"') for name, _, value in pairs}
        try:
            quality = float(parameters.pop("q", "1"))
        except ValueError:
            quality = 1.0
        media_type = "*/*" if media_type == "*" else media_type
        clauses.append((-quality, media_type.count("*"), media_type, parameters))
    clauses.sort(key=lambda clause: clause[:2])
    return [(media_type, parameters) for _, _, media_type, parameters in clauses]


def pretty(query: dict[str, list[str]], agent: str) -> bool:
    """Whether to indent: as the request says, else for those tools that a person looks at."""
    value = query.get("pretty", [""])[0]
    return value in _TRUE if value else agent.startswith(_PRETTY_AGENTS)


class KubernetesNegotiation(BaseContentNegotiation):
    """DRF's negotiation by the rules above; views say in `transforms` what they can do."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser:
        """The parser of the body's media type, JSON where none is given; raises 415."""
        given = (request.content_type or "").partition(";")[0].strip().lower() or JSON
        for parser in parsers:
            if parser.media_type == given:
                return parser
        known = [parser.media_type for parser in parsers if parser.media_type]
        raise unsupported_media_type(given, known)

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """The renderer of what was negotiated; raises 406."""
        ours = plain(request)
        accept = ours.META.get("HTTP_ACCEPT", "")
        if accept.startswith(OPENAPI):  # of one document only: there is nothing to weigh up
            for renderer in renderers:
                if renderer.media_type == OPENAPI:
                    return renderer, OPENAPI
        renderers = tuple(renderers)
        if renderers[0].format == "text":  # whatever was asked for, as for scrapers and probes
            ours.form = Form()
            return renderers[0], renderers[0].media_type
        form = ours.form = negotiate(accept, ours.transforms, stream=ours.info.verb == "watch")
        for renderer in renderers:
            if renderer.writes(form):  # type: ignore[attr-defined]
                return renderer, form.media_type
        raise StatusError(406, "NotAcceptable", "nothing here writes what was asked for")
