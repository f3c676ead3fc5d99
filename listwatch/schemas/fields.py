"""Fields that a kind does not have, and values that its fields cannot hold.

`api` asks for the unknown fields of a body, to warn of them or to refuse it (`fieldValidation`),
and for its decode fault; `registry` has them dropped from what it stores.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from listwatch.schemas.decoding import DecodeError, decode, is_normal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from listwatch.protocol.kinds import GroupVersionKind
    from listwatch.protocol.objects import JSONObject


def unknown_fields(gvk: GroupVersionKind, document: JSONObject) -> list[str]:
    """The paths of the fields that the kind does not have, in the order they stand in.

    As `spec.containers[0].Image`: upper and lower case are different fields. The object stays as
    it is. Of an object that cannot be decoded: those before the fault.
    """
    if is_normal(gvk, document):
        return []
    try:
        return decode(gvk, copy.deepcopy(document)).unknown
    except DecodeError:
        return []


def drop_unknown(gvk: GroupVersionKind, document: JSONObject) -> JSONObject:
    """The object in normal form, changed in place; raises DecodeError for a wrong type.

    Without unknown fields, without nulls and what else JSON leaves out; times and quantities as
    the original writes them.
    """
    return decode(gvk, document).document


def decode_faults(gvk: GroupVersionKind, document: object) -> str | None:
    """Why an object cannot be read as its kind, or None: the whole message of the refusal."""
    if is_normal(gvk, document):
        return None
    try:
        decode(gvk, copy.deepcopy(document))  # type: ignore[arg-type]  # anything but a dict is a fault
    except DecodeError as error:
        return cannot_be_handled(gvk, str(error))
    return None


def cannot_be_handled(gvk: GroupVersionKind, why: str) -> str:
    """The message of a body that is refused before anything else is looked at."""
    return f'{gvk.kind} in version "{gvk.version}" cannot be handled as a {gvk.kind}: {why}'


def strict_faults(unknown: Iterable[str], members: Iterable[tuple[str, bool]] = ()) -> list[str]:
    """What strict reading finds wrong, as it is warned of or refused: one text for each field.

    `members` are those of a body with duplicate keys, by `duplicates.load`.
    """
    left = dict.fromkeys(unknown)
    faults = []
    for path, again in members:
        if again:
            faults.append(f'duplicate field "{path}"')
        if path in left:
            del left[path]
            faults.append(f'unknown field "{path}"')
    return faults + [f'unknown field "{path}"' for path in left]
