"""Merging of lists in strategic merge patches, and the order of what comes out.

Elements of the patch keep the patch's order, those only the server has keep the server's, and the
two are woven together by the server's order as far as that says anything: what kubectl's users
have seen all along. Used by `strategic_merge` only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import orjson

from listwatch.patches.patch_schema import PatchSchema
from listwatch.patches.strategic_directives import DIRECTIVE, PatchError, directive_of, fresh
from listwatch.protocol.names import quoted
from listwatch.protocol.objects import JSONObject

List = list[Any]  # Any: JSON values
MergeObjects = Callable[[JSONObject, JSONObject, PatchSchema | None], JSONObject]


def merged_list(
    original: List, patch: List, schema: PatchSchema | None, merge: MergeObjects
) -> List:
    """Two lists as one, for a place whose strategy is to merge; `merge` joins two elements."""
    if not original and not patch:
        return original
    if _of_objects([*original, *patch]):
        key = schema.merge_key if schema is not None else ""
        if not key:
            raise PatchError("cannot merge lists without merge key")
        kept, given, replaces = _directed(original, patch, key)
        base: List = [] if replaces else kept
        merged = _merged_objects(base, given, schema, merge)
    else:
        key, given, base = "", patch, original
        merged = _distinct([*original, *patch])
    return _woven(merged, given, base, key)


def _distinct(values: List) -> List:
    found: dict[Any, Any] = {}
    for value in values:
        found.setdefault(_identity(value), value)
    return list(found.values())


def _of_objects(elements: List) -> bool:
    """Whether the elements are objects; they must all be, or none, and none a list."""
    kinds = {type(element) for element in elements}
    if list in kinds:
        raise PatchError("lists of lists are not supported")
    if dict in kinds and len(kinds) > 1:
        raise PatchError("list element types are not identical")
    return dict in kinds


def _directed(original: List, patch: List, key: str) -> tuple[List, List, bool]:
    """What the patch leaves of the original, what it adds, and whether it replaces the original."""
    kept, given, replaces = original, [], False
    for element in patch:
        match directive_of(element):
            case "delete":
                gone = _key(element, key)
                kept = [e for e in kept if _key_or_none(e, key) != gone]
            case "replace":
                replaces = True
            case _:
                given.append({k: v for k, v in element.items() if k != DIRECTIVE})
    return kept, given, replaces


def _merged_objects(
    original: List, patch: List, schema: PatchSchema | None, merge: MergeObjects
) -> List:
    merged = list(original)
    key = schema.merge_key if schema is not None else ""
    places = _places(map(_leniently(key), merged))
    items = schema.items if schema is not None else None
    for element in patch:
        identity = _key(element, key)
        if identity in places:
            at = places[identity]
            with PatchError.at(f"[{key}={element[key]}]"):
                merged[at] = merge(merged[at], element, items)
        else:
            places[identity] = len(merged)
            merged.append(fresh(element))
    return merged


def without(original: List, deleted: List) -> List:
    """What `$deleteFromPrimitiveList` leaves of a list."""
    gone = {_identity(value) for value in deleted}
    return [value for value in original if _identity(value) not in gone]


def check_order(patch: List, order: List, schema: PatchSchema | None) -> None:
    """Refuse a patch list whose elements are not in the order that goes with it."""
    named = _strictly(_order_key([*patch, *order], schema))
    wanted = iter([named(element) for element in order])
    for element in patch:
        if isinstance(element, dict) and DIRECTIVE in element:
            continue
        if order and named(element) not in wanted:
            raise PatchError("the order in patch list doesn't match the setElementOrder list")


def ordered(merged: List, order: List, original: List, schema: PatchSchema | None) -> List:
    """A merged list in the order that `$setElementOrder` wants."""
    return _woven(merged, order, original, _order_key([*merged, *order], schema))


def _order_key(elements: List, schema: PatchSchema | None) -> str:
    if not _of_objects(elements):
        return ""
    if schema is None or not schema.merge_key:
        raise PatchError("cannot order a list of objects without merge key")
    return schema.merge_key


def _woven(merged: List, patch_order: List, server_order: List, key: str) -> List:
    """Elements in the patch by its order, the others by the server's, the two woven together."""
    wanted = _places(map(_strictly(key), patch_order))
    named = _leniently(key)
    server = _places(map(named, server_order))
    ours = [e for e in merged if named(e) in wanted]
    theirs = [e for e in merged if named(e) not in wanted]
    ours.sort(key=lambda e: wanted[named(e)])
    theirs.sort(key=lambda e: server.get(named(e), len(server)))
    result: List = []
    at = 0
    for element in ours:
        place = server.get(named(element), -1)
        while at < len(theirs) and server.get(named(theirs[at]), place) < place:
            result.append(theirs[at])
            at += 1
        result.append(element)
    return result + theirs[at:]


def _places(identities: Iterable[Any]) -> dict[Any, int]:
    found: dict[Any, int] = {}
    for place, identity in enumerate(identities):
        found.setdefault(identity, place)
    return found


def _strictly(key: str) -> Callable[[Any], Any]:
    """What tells an element of the patch from the others: it must have the merge key."""
    return (lambda element: _key(element, key)) if key else _identity


def _leniently(key: str) -> Callable[[Any], Any]:
    """The same of an element of the object, which may lack a key that its kind makes optional."""
    return (lambda element: _key_or_none(element, key)) if key else _identity


def _key(element: JSONObject, key: str) -> Any:
    if key not in element:
        raise PatchError(f"an element does not contain declared merge key: {quoted(key)}")
    return _identity(element[key])


def _key_or_none(element: JSONObject, key: str) -> Any:
    return _identity(element[key]) if key in element else None


def _identity(value: Any) -> Any:
    """Equal for equal JSON values only: true is not 1."""
    if isinstance(value, list | dict):
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return type(value), value
