"""The AdmissionReview: what a webhook is sent, and what its answer means."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from listwatch.protocol.errors import StatusError
from listwatch.protocol.uids import new_uid
from listwatch.registry.admission.request import CREATE, UPDATE
from listwatch.registry.admission.web_client import CallError
from listwatch.registry.conversions import to_served
from listwatch.registry.reviews import shown_user

if TYPE_CHECKING:
    from listwatch.protocol.kinds import GroupVersionKind, Resource
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.admission.request import AdmissionRequest

VERSION = "admission.k8s.io/v1"
_OPTIONS = {CREATE: "CreateOptions", UPDATE: "UpdateOptions"}


class Verdict(NamedTuple):
    """What a webhook said; `patch` is None if it changes nothing."""

    allowed: bool
    status: JSONObject
    patch: list[Any] | None  # Any: JSON
    warnings: list[str]


def review_of(request: AdmissionRequest, seen: Resource) -> JSONObject:
    """The question, as somebody sees it who asked for this version of the resource."""
    ctx = request.ctx
    options: JSONObject = {
        "kind": _OPTIONS.get(request.operation, "DeleteOptions"),
        "apiVersion": "meta.k8s.io/v1",
    }
    if ctx.field_manager:
        options["fieldManager"] = ctx.field_manager
    if ctx.dry_run:
        options["dryRun"] = ["All"]
    asked: JSONObject = {
        "uid": new_uid(),
        "kind": _kind(request.shape or seen.gvk),
        "resource": _where(seen),
        "subResource": ctx.subresource,
        "requestKind": _kind(request.shape or ctx.resource.gvk),
        "requestResource": _where(ctx.resource),
        "requestSubResource": ctx.subresource,
        "name": request.name,
        "namespace": ctx.namespace,
        "operation": request.operation,
        "userInfo": shown_user(ctx.user),
        "object": _sent(request, request.document, seen),
        "oldObject": _sent(request, request.old, seen),
        "dryRun": ctx.dry_run,
        "options": options,
    }
    for key in ("subResource", "requestSubResource", "name", "namespace"):
        if not asked[key]:
            del asked[key]
    return {"kind": "AdmissionReview", "apiVersion": VERSION, "request": asked}


def verdict_of(review: JSONObject, answer: JSONObject) -> Verdict:
    """What an answer says; raises CallError if it is none to this question."""
    if (answer.get("kind"), answer.get("apiVersion")) != ("AdmissionReview", VERSION):
        raise CallError(
            f"expected webhook response of {VERSION}, Kind=AdmissionReview, got "
            f"{answer.get('apiVersion', '')}, Kind={answer.get('kind', '')}"
        )
    response = answer.get("response")
    if not isinstance(response, dict):
        raise CallError("webhook response was absent")
    uid = review["request"]["uid"]
    if response.get("uid") != uid:
        raise CallError(f'expected response.uid="{uid}", got "{response.get("uid", "")}"')
    allowed = response.get("allowed") is True
    status = response.get("status")
    return Verdict(
        allowed,
        status if isinstance(status, dict) else {},
        _patch(response) if allowed and response.get("patch") else None,
        [text for text in response.get("warnings") or () if isinstance(text, str)],
    )


def shown(request: AdmissionRequest, document: JSONObject, seen: Resource) -> JSONObject:
    """An object in the form of one version of its resource, as a new dict."""
    copied: JSONObject = orjson.loads(orjson.dumps(document))
    return copied if request.shape is not None else to_served(seen, copied)


def refusal(webhook: str, status: JSONObject) -> StatusError:
    """The 4xx that a webhook asks for."""
    said = f'admission webhook "{webhook}" denied the request'
    reason, message = str(status.get("reason") or ""), str(status.get("message") or "")
    code = status.get("code")
    if not isinstance(code, int) or not 400 <= code < 600:
        code = 400
    if message or reason:
        said = f"{said}: {message or reason}"
    else:
        said = f"{said} without explanation"
    details = status.get("details")
    return StatusError(
        code, reason, said, details=details if isinstance(details, dict) else None
    )  # fmt: skip


def _patch(response: JSONObject) -> list[Any]:  # Any: JSON
    if response.get("patchType") != "JSONPatch":
        raise CallError(f'invalid patchType "{response.get("patchType", "")}"')
    try:
        patch = orjson.loads(base64.b64decode(response["patch"]))
    except (binascii.Error, TypeError, ValueError) as error:
        raise CallError(f"the patch cannot be read: {error}") from None
    if not isinstance(patch, list):
        raise CallError("the patch is no list of operations")
    return patch


def _sent(
    request: AdmissionRequest, document: JSONObject | None, seen: Resource
) -> JSONObject | None:
    return None if document is None else shown(request, document, seen)


def _kind(gvk: GroupVersionKind) -> JSONObject:
    return {"group": gvk.group, "version": gvk.version, "kind": gvk.kind}


def _where(resource: Resource) -> JSONObject:
    return {
        "group": resource.group, "version": resource.version, "resource": resource.resource,
    }  # fmt: skip
