"""What every view needs beside its request: made once a handler, reached as `request.services`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from listwatch.api.discovery_documents import Discovery
from listwatch.api.permissions import Authorizer, RoleAuthorizer
from listwatch.api.pieces import Pieces
from listwatch.api.throttling import InFlight

if TYPE_CHECKING:
    from listwatch.api.tokens import Tokens
    from listwatch.runtime import Runtime


@dataclass(slots=True)
class Services:
    """The parts that the requests of one server share. Belongs to the runtime's event loop."""

    runtime: Runtime
    tokens: Tokens
    authorizer: Authorizer = field(init=False)
    in_flight: InFlight = field(default_factory=InFlight)
    pieces: Pieces = field(default_factory=Pieces)
    discovery: Discovery = field(init=False)

    def __post_init__(self) -> None:
        self.authorizer = RoleAuthorizer(self.runtime.registry.authorizer)
        self.runtime.registry.reviews.static = [self.tokens.user]
        self.discovery = Discovery(self.runtime.resources, self.runtime.aggregator.remotes)
