"""`pods/binding`: the scheduler's word on which node a pod shall run.

A write of the pod like any other, but without its rules for updates: its spec cannot be changed
otherwise. Nothing is answered but that it was done.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from listwatch.protocol.clock import rfc3339
from listwatch.protocol.errors import Cause, bad_request, conflict, invalid
from listwatch.protocol.kinds import GroupResource, GroupVersionKind
from listwatch.protocol.objects import Encoded, encode
from listwatch.registry import metadata as meta
from listwatch.registry.backend import Step
from listwatch.registry.bodies import read_body
from listwatch.registry.context import Written
from listwatch.store.writes import Update

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.backend import Backend, State
    from listwatch.registry.context import RequestContext

BINDING = GroupVersionKind("", "v1", "Binding")
_SHOWN = GroupResource("", "pods/binding")
_DONE = Encoded(
    b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201}', 0
)


async def bind(
    backend: Backend, ctx: RequestContext, document: JSONObject, *,
    sent: RequestContext | None = None,
) -> Written:  # fmt: skip
    """Assign a pod to the node that a Binding names; raises 400, 404, 409, 422.

    The answer's encoding is a Status, which has no revision. `sent` is the request as admission
    shall see it, if not the same.
    """
    document = read_body(ctx, document, BINDING, backend.resources)
    metadata = meta.metadata_of(document)
    meta.match_namespace(ctx, metadata)
    if metadata.get("name") != ctx.name:
        raise bad_request("name in URL does not match name in Binding object")
    document = await backend.admission.admit(sent or ctx, document, BINDING)
    metadata = meta.metadata_of(document)
    node = _node(document)
    key = backend.key(ctx)

    def transform(state: State) -> Step:
        pod = state.document()
        _check(ctx, pod, metadata, state)
        _assign(pod, node, metadata, rfc3339(backend.clock.now()))
        pod["metadata"] = meta.ordered(pod["metadata"])
        encoded = encode(pod)
        return Step(Update(*key[:3], state.revision, encoded), encoded)

    await backend.settle(key, transform, dry_run=ctx.dry_run)
    return Written(_DONE, 0, created=True)


async def bind_named(backend: Backend, ctx: RequestContext, document: JSONObject) -> Written:
    """The same for a Binding that is posted to `bindings`: it names the pod itself."""
    pods = backend.resources.find("", "v1", "pods")
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if pods is None or not name or not isinstance(name, str):
        why = "Required value: name or generateName is required"
        raise invalid(BINDING, "", (Cause("FieldValueRequired", why, "metadata.name"),))
    of_pod = replace(ctx, resource=pods, subresource="binding", name=name)
    return await bind(backend, of_pod, document, sent=replace(ctx, name=name))


def _node(document: JSONObject) -> str:
    target = document.get("target") or {}
    causes = []
    if target.get("kind") not in (None, "", "Node"):
        why = f'Unsupported value: "{target["kind"]}": supported values: "Node", "<empty>"'
        causes.append(Cause("FieldValueNotSupported", why, "target.kind"))
    if not target.get("name"):
        causes.append(Cause("FieldValueRequired", "Required value", "target.name"))
    if causes:
        raise invalid(BINDING, document["metadata"].get("name", ""), tuple(causes))
    return str(target["name"])


def _check(ctx: RequestContext, pod: JSONObject, metadata: JSONObject, state: State) -> None:
    if metadata.get("uid") and metadata["uid"] != state.uid:
        raise conflict(
            _SHOWN, ctx.name,
            f"Precondition failed: UID in precondition: {metadata['uid']}, "
            f"UID in object meta: {state.uid}",
        )  # fmt: skip
    spec, why = pod.get("spec") or {}, ""
    if "deletionTimestamp" in pod["metadata"]:
        why = f"pod {ctx.name} is being deleted, cannot be assigned to a host"
    elif spec.get("nodeName"):
        why = f'pod {ctx.name} is already assigned to node "{spec["nodeName"]}"'
    elif spec.get("schedulingGates"):
        why = f"pod {ctx.name} has non-empty .spec.schedulingGates"
    if why:
        raise conflict(_SHOWN, ctx.name, why)


def _assign(pod: JSONObject, node: str, metadata: JSONObject, now: str) -> None:
    pod.setdefault("spec", {})["nodeName"] = node
    for key in ("labels", "annotations"):
        if metadata.get(key):
            pod["metadata"][key] = {**(pod["metadata"].get(key) or {}), **metadata[key]}
    conditions = pod.setdefault("status", {}).setdefault("conditions", [])
    scheduled = {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": now,
    }
    for index, condition in enumerate(conditions):
        if condition.get("type") == "PodScheduled":
            if condition.get("status") == "True":
                scheduled["lastTransitionTime"] = condition.get("lastTransitionTime")
            conditions[index] = scheduled
            return
    conditions.append(scheduled)
