"""The directives of strategic merge patches: their names, and values freed of them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from listwatch.protocol.names import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from listwatch.protocol.objects import JSONObject

DIRECTIVE = "$patch"
RETAIN_KEYS = "$retainKeys"
SET_ORDER = "$setElementOrder/"
DELETE_FROM = "$deleteFromPrimitiveList/"


class PatchError(Exception):
    """A patch that cannot be meant; the fields on the way to the fault stand before it."""

    def __init__(self, why: str, path: tuple[str, ...] = ()) -> None:
        super().__init__(why)
        self.why = why
        self.path = path

    def __str__(self) -> str:
        return f"{'.'.join(self.path)}: {self.why}" if self.path else self.why

    @staticmethod
    @contextmanager
    def at(name: str) -> Iterator[None]:
        """Tell a fault that comes from inside where it was found."""
        try:
            yield
        except PatchError as fault:
            fault.path = (name, *fault.path)
            raise


def directive_of(patch: JSONObject) -> str:
    """What `$patch` says of an object: '' if nothing, or that it is merged as any other."""
    if DIRECTIVE not in patch:
        return ""
    directive = patch[DIRECTIVE]
    if directive == "merge":
        return ""
    if directive in ("replace", "delete"):
        return str(directive)
    raise PatchError(f"unknown patch type: {quoted(str(directive))}")


def named(key: str) -> str:
    """The list that a `$setElementOrder/x` or `$deleteFromPrimitiveList/x` speaks of."""
    return key.partition("/")[2]


def is_directive(key: str) -> bool:
    """Whether a key of a patch is no field, but tells how to merge."""
    return key in (DIRECTIVE, RETAIN_KEYS) or key.startswith((SET_ORDER, DELETE_FROM))


def fresh(value: Any) -> Any:
    """A value that stands where nothing was: without nulls in objects, and without directives.

    Elements of a list that only direct its merge go with them.
    """
    if isinstance(value, dict):
        return {
            key: fresh(inner)
            for key, inner in value.items()
            if inner is not None
            and not is_directive(key)
            and not (isinstance(inner, dict) and directive_of(inner) == "delete")
        }
    if isinstance(value, list):
        return [fresh(e) for e in value if not (isinstance(e, dict) and directive_of(e))]
    return value
