"""Strategic merge patches: lists merge by the keys that a kind declares, directives say the rest.

`$patch: replace | delete | merge`, `$retainKeys`, `$setElementOrder/x` and
`$deleteFromPrimitiveList/x`, as kubectl and client-go send them. Lists are in `strategic_lists`;
the result goes back to `registry`, which defaults and validates it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from listwatch.patches import strategic_lists
from listwatch.patches.faults import not_decoded, refuses_deep_nesting, type_of
from listwatch.patches.strategic_directives import (
    DELETE_FROM,
    DIRECTIVE,
    RETAIN_KEYS,
    SET_ORDER,
    PatchError,
    directive_of,
    fresh,
    is_directive,
    named,
)
from listwatch.protocol.errors import bad_request

if TYPE_CHECKING:
    from listwatch.patches.patch_schema import PatchSchema
    from listwatch.protocol.objects import JSONObject


@refuses_deep_nesting
def apply(document: JSONObject, patch: Any, schema: PatchSchema) -> JSONObject:
    """The patched document; it may share parts with both arguments, which stay as they are.

    Raises StatusError 400 for a patch that is no object or whose directives make no sense. Values
    of wrong types are taken as they are: validation finds them. (Any: JSON as it came.)
    """
    if patch is None:
        patch = {}  # as Go reads it
    if not isinstance(patch, dict):
        raise bad_request(not_decoded(patch, "map[string]interface {}"))
    try:
        return merged_object(document, patch, schema)
    except PatchError as fault:
        raise bad_request(str(fault)) from None


def merged_object(
    original: JSONObject, patch: JSONObject, schema: PatchSchema | None
) -> JSONObject:
    """One object merged with its part of the patch."""
    match directive_of(patch):
        case "replace":
            cleaned: JSONObject = fresh({k: v for k, v in patch.items() if k != DIRECTIVE})
            return cleaned
        case "delete":
            return {}
    result = _retained(original, patch)
    # Lists come first: one list may be spoken of under three names, which belong together.
    lists = {named(key) for key in patch if key.startswith((SET_ORDER, DELETE_FROM))}
    for name in lists:
        with PatchError.at(name):
            _merge_directed_list(result, patch, name, _field(schema, name))
    for key, value in patch.items():
        if key in lists or is_directive(key):
            continue
        if value is None:
            result.pop(key, None)
            continue
        with PatchError.at(key):
            merged = _merged_value(result.get(key), value, _field(schema, key))
        if merged is not GONE:
            result[key] = merged
    return result


GONE = object()  # a new value that its own directive deletes


def _field(schema: PatchSchema | None, name: str) -> PatchSchema | None:
    return schema.field(name) if schema is not None else None


def _merged_value(original: Any, value: Any, schema: PatchSchema | None) -> Any:
    if isinstance(value, dict):
        if not isinstance(original, dict):
            return GONE if directive_of(value) == "delete" else fresh(value)
        if "replace" in _strategies(schema):
            return fresh(value)
        return merged_object(original, value, schema)
    if isinstance(value, list) and isinstance(original, list) and "merge" in _strategies(schema):
        return strategic_lists.merged_list(original, value, schema, merged_object)
    return fresh(value)


def _strategies(schema: PatchSchema | None) -> Any:
    return schema.strategies if schema is not None else ()


def _retained(original: JSONObject, patch: JSONObject) -> JSONObject:
    """The original, cut down to what `$retainKeys` lists if that is there."""
    keys = patch.get(RETAIN_KEYS)
    if RETAIN_KEYS not in patch:
        return dict(original)
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise PatchError("invalid patch format of retainKeys")
    for key, value in patch.items():
        if value is not None and key not in keys and not is_directive(key):
            raise PatchError(f"patch content doesn't match retainKeys list: {key}")
    return {key: value for key, value in original.items() if key in keys}


def _merge_directed_list(
    result: JSONObject, patch: JSONObject, name: str, schema: PatchSchema | None
) -> None:
    """Merge a list that `$setElementOrder` or `$deleteFromPrimitiveList` speaks of, in place."""
    order, deleted = patch.get(SET_ORDER + name), patch.get(DELETE_FROM + name)
    if SET_ORDER + name in patch and not isinstance(order, list):
        raise PatchError("invalid patch format of setElementOrder list")
    if DELETE_FROM + name in patch and not isinstance(deleted, list):
        raise PatchError("invalid patch format of primitive list")
    if name in patch and patch[name] is None:
        result.pop(name, None)
        return
    original, value = result.get(name), patch.get(name)
    for given in (original, value):
        if given is not None and not isinstance(given, list):
            raise PatchError(f"expected an array, found {type_of(given)}")
    if original is None and value is None:
        return
    if order is not None and value is not None:
        strategic_lists.check_order(value, order, schema)
    if deleted is not None and original is not None:
        original = strategic_lists.without(original, deleted)
    if value is None:
        merged = original or []
    elif original is not None and "merge" in _strategies(schema):
        merged = strategic_lists.merged_list(original, value, schema, merged_object)
    else:
        merged = fresh(value)
    if order is not None:
        merged = strategic_lists.ordered(merged, order, original or [], schema)
    result[name] = merged
