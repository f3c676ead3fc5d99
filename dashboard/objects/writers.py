"""Who wrote a revision, told from what its managed fields and the revision before it say.

No request is stored with a change, so this is read from the objects: the entry that the write made
or renewed. Times have whole seconds, so within one the newest entry need not be the writer's; then
it is the entry that owns a field the write changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from listwatch.protocol.objects import JSONObject

JSON = dict[str, Any]  # Any: JSON values


def writer(document: JSONObject, before: JSONObject | None) -> str:
    """The manager of a write, with the subresource it went through; '' where none is recorded.

    `before` is the state that the write found, None where there was none or the log lost it.
    """
    entries: list[JSON] = document["metadata"].get("managedFields") or []
    if before is not None:
        known: list[JSON] = before["metadata"].get("managedFields") or []
        entries = [each for each in entries if each not in known] or _owning(
            entries, list(_changed(before, document))
        )
    newest: JSON = max(entries, key=lambda each: each.get("time") or "", default={})
    part = f" ({newest['subresource']})" if newest.get("subresource") else ""
    return f"{newest.get('manager', '')}{part}"


def _owning(entries: list[JSON], paths: list[list[str]]) -> list[JSON]:
    """The entries that own one of the paths; all of them where nobody does."""
    owning = [
        each for each in entries if any(_owns(each.get("fieldsV1") or {}, path) for path in paths)
    ]
    return owning or entries


def _owns(fields: JSON, path: list[str]) -> bool:
    """Whether a field set names the path, or something within it or that it lies within."""
    for name in path:
        if not fields or set(fields) == {"."}:
            return True
        if f"f:{name}" not in fields:
            return False
        fields = fields[f"f:{name}"]
    return True


def _changed(before: JSON, after: JSON, path: tuple[str, ...] = ()) -> Iterator[list[str]]:
    """Paths whose values differ; a list is one value. What only the server counts is left out."""
    for name in {**before, **after}:
        here = (*path, name)
        if here in _COUNTED or before.get(name) == after.get(name):
            continue
        one, other = before.get(name), after.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            yield from _changed(one, other, here)
        else:
            yield list(here)


_COUNTED = {
    ("metadata", "managedFields"),
    ("metadata", "resourceVersion"),
    ("metadata", "generation"),
}
