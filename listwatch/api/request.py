"""The request as it travels through the API: Django's, with what Kubernetes' paths add.

Made by `handler`, wrapped by DRF in `views`.
"""

from __future__ import annotations

import io
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from django.core.handlers.asgi import ASGIRequest

from listwatch.api import negotiation
from listwatch.api.request_info import parse
from listwatch.protocol.errors import StatusError
from listwatch.protocol.options import boolean, first
from listwatch.protocol.selectors import FieldSelector

if TYPE_CHECKING:
    from listwatch.api.services import Services


class KubernetesRequest(ASGIRequest):
    """One request with its `whole` body; `query` holds every parameter with all of its values.

    `transforms` are the kinds its answer can be turned into, set by the view; `form` is what was
    negotiated. `counted` says that it holds a place among the requests in flight.
    """

    transforms = negotiation.NOTHING
    form = negotiation.Form()
    counted = False

    def __init__(
        self,
        scope: dict[str, Any],  # Any: ASGI's values
        body: bytes,
        services: Services,
    ) -> None:
        super().__init__(scope, io.BytesIO(body))
        self.whole = body
        # A chunked body has no length of its own, and DRF takes one without for empty.
        self.META["CONTENT_LENGTH"] = str(len(body))
        self.services = services
        text = self.META["QUERY_STRING"]
        self.query: dict[str, list[str]] = parse_qs(text, keep_blank_values=True) if text else {}
        watch, selected = False, ""
        if text:
            watch, selected = boolean(self.query, "watch"), _selected(self.query)
        self.info = parse(self.method or "", self.path, watch=watch, selected=selected)

    @cached_property
    def agent(self) -> str:
        """The User-Agent, '' if it does not say."""
        agent: str = self.META.get("HTTP_USER_AGENT", "")
        return agent

    @property
    def pretty(self) -> bool:
        """Whether the answer is to be indented."""
        return self.form.pretty or negotiation.pretty(self.query, self.agent)

    @property
    def address(self) -> str:
        """The client's address and port, as far as the server knows them."""
        client = self.scope.get("client")
        return f"{client[0]}:{client[1]}" if client else ""


def _selected(query: dict[str, list[str]]) -> str:
    text = first(query, "fieldSelector")
    if "metadata.name" not in text:
        return ""
    try:
        return FieldSelector.parse(text).requires("metadata.name") or ""
    except StatusError:
        return ""  # whoever reads the options says so
