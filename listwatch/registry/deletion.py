"""What a request to delete does to an object: nothing yet, a mark, or its end.

Pure decisions, from upstream's pkg/registry/rest/delete.go and generic/registry/store.go; `delete`
carries them out.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from listwatch.protocol.clock import parse_rfc3339, rfc3339
from listwatch.protocol.errors import StatusError, conflict, forbidden
from listwatch.protocol.kinds import GroupResource, GroupVersionKind

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.protocol.options import DeleteOptions
    from listwatch.registry.strategies.strategy import Strategy

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"  # the garbage collector's finalizers


class Verdict(Enum):
    """What becomes of the object now."""

    WAIT = auto()  # it is being deleted already, and this request changes nothing
    MARK = auto()  # it is marked, and stays for its grace period or its finalizers
    MARK_AND_REMOVE = auto()  # watchers see it marked before it goes
    REMOVE = auto()


def decide(strategy: Strategy, document: JSONObject, options: DeleteOptions, now: float) -> Verdict:
    """Decide, and mark the document accordingly in place."""
    metadata = document["metadata"]
    period = strategy.grace_period(document, options)
    graceful = period is not None
    if graceful and "deletionTimestamp" in metadata:
        before = metadata.get("deletionGracePeriodSeconds") or 0
        asked = options.grace_period_seconds
        if before and (asked is None or _positive(asked) >= before):
            return Verdict.WAIT
        if before and asked is not None:
            period = _shorten(metadata, before, _positive(asked), now)
        else:
            graceful = False  # its time is over already
    elif graceful:
        assert period is not None
        metadata["deletionTimestamp"] = rfc3339(now + period)
        metadata["deletionGracePeriodSeconds"] = period
        _count_generation(metadata)
    finalizers = finalizers_for(strategy, metadata.get("finalizers") or [], options)
    if finalizers:
        metadata["finalizers"] = finalizers
    else:
        metadata.pop("finalizers", None)
    if graceful:
        return Verdict.MARK if finalizers or period else Verdict.MARK_AND_REMOVE
    if not finalizers:
        return Verdict.REMOVE
    mark(metadata, now)
    return Verdict.MARK


def decide_definition(
    strategy: Strategy, document: JSONObject, options: DeleteOptions, now: float
) -> Verdict:
    """The same for the definition of a custom resource, whose objects go before it."""
    metadata = document["metadata"]
    if "deletionTimestamp" in metadata:
        return decide(strategy, document, options, now)
    metadata["deletionTimestamp"] = rfc3339(now)
    strategy.mark_deleting(document)
    return Verdict.MARK


def decide_namespace(
    strategy: Strategy, document: JSONObject, options: DeleteOptions, now: float
) -> Verdict:
    """The same for a namespace, which has a phase instead of a grace period."""
    metadata = document["metadata"]
    if "deletionTimestamp" in metadata:
        if not strategy.may_go(document):
            return Verdict.WAIT
        return decide(strategy, document, options, now)
    metadata["deletionTimestamp"] = rfc3339(now)
    strategy.mark_deleting(document)
    metadata["finalizers"] = finalizers_for(strategy, metadata.get("finalizers") or [], options)
    return Verdict.MARK


def check_preconditions(
    gvk: GroupVersionKind, metadata: JSONObject, options: DeleteOptions
) -> None:
    """Raise 409 if another object, or another version of it, was meant."""
    for wanted, key, word, why in (
        (options.uid, "uid", "UID", "deleted and then recreated"),
        (options.resource_version, "resourceVersion", "ResourceVersion", "modified"),
    ):
        if wanted and wanted != metadata[key]:
            raise conflict(
                GroupResource(gvk.group, gvk.kind), metadata["name"],
                f"the {word} in the precondition ({wanted}) does not match the {word} in record "
                f"({metadata[key]}). The object might have been {why}",
            )  # fmt: skip


def finalizers_for(strategy: Strategy, finalizers: list[str], options: DeleteOptions) -> list[str]:
    """The finalizers, with the one of the garbage collector that the request asks for."""
    if not strategy.collects_garbage:
        wanted = ""
    elif options.orphan_dependents is not None:
        wanted = ORPHAN if options.orphan_dependents else ""
    elif options.propagation_policy:
        wanted = {"Orphan": ORPHAN, "Foreground": FOREGROUND}.get(options.propagation_policy, "")
    elif ORPHAN in finalizers or FOREGROUND in finalizers:
        return finalizers
    else:
        wanted = ORPHAN if strategy.orphans_by_default else ""
    others = [name for name in finalizers if name not in (ORPHAN, FOREGROUND)]
    result = [*others, wanted] if wanted else others
    return finalizers if set(result) == set(finalizers) else result


def mark(metadata: JSONObject, now: float) -> None:
    """Say that the object is being deleted, and that only its finalizers hold it."""
    stamp = metadata.get("deletionTimestamp")
    if stamp is None:
        _count_generation(metadata)
    if stamp is None or parse_rfc3339(stamp) > now:
        metadata["deletionTimestamp"] = rfc3339(now)
    metadata["deletionGracePeriodSeconds"] = 0


def _positive(seconds: int) -> int:
    return seconds if seconds >= 0 else 1


def _shorten(metadata: JSONObject, before: int, period: int, now: float) -> int:
    end = parse_rfc3339(metadata["deletionTimestamp"]) - before + period
    if end < now:
        end = now
        # Its time is over, but it was asked for gracefully: the least that is still graceful.
        period = 1 if period else 0
    metadata["deletionTimestamp"] = rfc3339(end)
    metadata["deletionGracePeriodSeconds"] = period
    return period


def _count_generation(metadata: JSONObject) -> None:
    if metadata.get("generation", 0) > 0:
        metadata["generation"] += 1


def protected(name: str) -> StatusError:
    """403 for a namespace that the server cannot be without."""
    return forbidden(GroupResource("", "namespaces"), name, "this namespace may not be deleted")
