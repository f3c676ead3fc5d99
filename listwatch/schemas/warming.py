"""Reading ahead: the schemas of the kinds that are written most, before the first write needs them.

The files are opened and compiled when something asks for them, which takes a few hundredths of a
second. `runtime` has a thread ask first, so that the event loop need not.
"""

from __future__ import annotations

import threading

from listwatch.protocol.kinds import GroupVersionKind
from listwatch.schemas.decoding import is_normal
from listwatch.schemas.defaults import apply_defaults
from listwatch.schemas.facts import structure_facts

_FIRST = (
    GroupVersionKind("", "v1", "ConfigMap"),
    GroupVersionKind("", "v1", "Pod"),
    GroupVersionKind("apps", "v1", "Deployment"),
    GroupVersionKind("", "v1", "Event"),
    GroupVersionKind("coordination.k8s.io", "v1", "Lease"),
)


def warm() -> None:
    """Compile what decoding and defaulting need of the commonest kinds; may run in any thread."""
    for gvk in _FIRST:
        is_normal(gvk, {})
        apply_defaults(gvk, {"spec": {"containers": []}})
    structure_facts()


def warm_in_background() -> threading.Thread:
    """The same in a thread of its own, which nobody needs to wait for."""
    thread = threading.Thread(target=warm, name="schemas", daemon=True)
    thread.start()
    return thread
