"""What a view answers, before it has a form: one object, or many.

Values only; `renderers` turn them into JSON, YAML, Tables or metadata. Anything else a view
answers (a Status, a discovery document) is JSON already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from listwatch.registry.conversions import served

if TYPE_CHECKING:
    from collections.abc import Sequence

    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.objects import Encoded
    from listwatch.protocol.versions import Version


class ObjectAnswer(NamedTuple):
    """One object as it is served; `revision` 0 has none to show (a dry run's)."""

    resource: Resource
    encoded: Encoded
    revision: int

    @classmethod
    def of(cls, resource: Resource, version: Version) -> ObjectAnswer:
        """The answer to a get."""
        return cls(resource, served(resource, version.encoded), version.revision)


class ListAnswer(NamedTuple):
    """The versions of a list as they are kept; `remaining` None is not said."""

    resource: Resource
    versions: Sequence[Version]
    revision: int
    continue_token: str = ""
    remaining: int | None = None
