"""kubectl's own note of what was applied last: how its users come over to server-side apply.

What `kubectl apply` had noted in an annotation counts as kubectl's own, so that applying the same
on the server is no conflict; and the annotation is kept up as long as it is there. Both for the
manager `kubectl` alone: whoever does not want it takes another name. For `apply`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from listwatch.patches.field_sets import checking
from listwatch.patches.field_sets.comparing import compare
from listwatch.patches.field_sets.elements import UnkeyedError
from listwatch.patches.field_sets.reading import fields_of
from listwatch.patches.field_sets.sets import difference

if TYPE_CHECKING:
    from listwatch.patches.field_sets.field_type import FieldType
    from listwatch.patches.field_sets.sets import FieldSet
    from listwatch.protocol.objects import JSONObject

KUBECTL = "kubectl"
ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"
_TOTAL = 256 * 1024  # bytes of all annotations, as validation has it
_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}  # as Go's encoder writes them


def allowed(ftype: FieldType, live: JSONObject, api_version: str) -> FieldSet:
    """The fields that kubectl applied last and that nobody changed since."""
    try:
        config = orjson.loads(_annotations(live).get(ANNOTATION) or b"null")
    except (ValueError, TypeError):
        return {}
    if not isinstance(config, dict) or config.get("apiVersion") != api_version:
        return {}
    try:
        if checking.faults(ftype, config):
            return {}
        fields = fields_of(ftype, config)
        for part in compare(ftype, config, live):
            fields = difference(fields, part)
    except (UnkeyedError, RecursionError):
        return {}
    return fields


def keep_up(document: JSONObject, config: JSONObject) -> None:
    """Note a configuration in the annotation of an object that has one; drop it if it is too big.

    Both may share parts; the configuration is not changed.
    """
    annotations = _annotations(document)
    if not annotations.get(ANNOTATION):
        return
    noted = {**config, "metadata": dict(config.get("metadata") or {})}
    mine = {k: v for k, v in _annotations(config).items() if k != ANNOTATION}
    noted["metadata"].pop("annotations", None)
    if mine:
        noted["metadata"]["annotations"] = mine
    text = orjson.dumps(noted, option=orjson.OPT_SORT_KEYS).decode().translate(_ESCAPES)
    kept = {**annotations, ANNOTATION: text + "\n"}
    if sum(len(k.encode()) + len(str(v).encode()) for k, v in kept.items()) > _TOTAL:
        del kept[ANNOTATION]
    document["metadata"]["annotations"] = kept


def _annotations(document: JSONObject) -> dict[str, Any]:  # Any: what a client sent as texts
    annotations = (document.get("metadata") or {}).get("annotations")
    return annotations if isinstance(annotations, dict) else {}
