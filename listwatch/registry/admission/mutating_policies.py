"""MutatingAdmissionPolicies: changes written in CEL, made where they are bound.

Upstream: apiserver/pkg/admission/plugin/policy/mutating. A mutation is a configuration, merged as
server-side apply merges (but owned by nobody), or a JSON patch. Asked before the webhooks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from listwatch.patches import json_patch, server_side_apply
from listwatch.patches.field_sets.elements import UnkeyedError
from listwatch.patches.field_sets.merging import merge
from listwatch.patches.field_sets.reading import replaced_whole
from listwatch.protocol.errors import Cause, StatusError
from listwatch.registry.admission.expressions import ExpressionError
from listwatch.registry.admission.policies import Bound, Policies
from listwatch.registry.admission.reviewing import shown
from listwatch.registry.conversions import to_stored
from listwatch.registry.field_managers import type_of
from listwatch.registry.object_rules import apply_defaults, decode
from listwatch.schemas.decoding import DecodeError
from listwatch.schemas.object_literals import as_maps

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.admission.request import AdmissionRequest
    from listwatch.registry.authorization.authorizer import Authorizer
    from listwatch.registry.backend import Backend

_IDENTITY = ("apiVersion", "kind")


class MutatingPolicyPlugin(Policies):
    """Makes the changes of the policies that are bound, in the order of their names."""

    def __init__(self, backend: Backend, authorizer: Authorizer) -> None:
        super().__init__(
            backend, authorizer, "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"
        )

    async def mutate(self, request: AdmissionRequest) -> None:
        """Change the object; raise what a policy that cannot be evaluated fails with."""
        again: list[Bound] = []
        for bound in self.bound(request):
            changed = self._applied(bound, request)
            if changed:
                # Who asks for it sees once more what somebody else has changed.
                earlier, again = again, []
                for one in earlier:
                    self._applied(one, request)
            if bound.spec.get("reinvocationPolicy") == "IfNeeded":
                again.append(bound)

    def _applied(self, bound: Bound, request: AdmissionRequest) -> bool:
        before = request.document
        try:
            for params in self.params(bound, request):
                self._mutate(bound, params, request)
        except ExpressionError as error:
            request.document = before
            if bound.ignores_failures:
                return False
            raise _denied(request, f"policy {bound.where} denied request: {error}") from None
        return request.document != before

    def _mutate(self, bound: Bound, params: JSONObject | None, request: AdmissionRequest) -> None:
        data = self.variables(bound, params, request)
        if data is None:
            return
        seen = bound.seen
        for mutation in bound.spec.get("mutations") or ():
            assert request.document is not None
            document = shown(request, request.document, seen)
            data["object"] = document
            try:
                if mutation.get("patchType") == "JSONPatch":
                    document = self._patched(mutation.get("jsonPatch") or {}, document, data)
                else:
                    configuration = mutation.get("applyConfiguration") or {}
                    document = self._merged(configuration, document, data, bound, request)
                document, _ = decode(seen, request.shape or seen.gvk, document)
            except (StatusError, DecodeError, UnkeyedError) as error:
                raise ExpressionError(getattr(error, "explanation", str(error))) from None
            if request.shape is None:
                document = to_stored(seen, document)
                apply_defaults(request.ctx.resource, document)
            request.document = document

    def _made(self, expression: str, data: dict[str, Any]) -> Any:  # Any: JSON values
        try:
            return self.expressions.value(as_maps(expression), data)
        except ExpressionError as error:
            why = f"expression '{expression}' resulted in error: {error}"
            raise ExpressionError(why) from None

    def _patched(
        self, patch: JSONObject, document: JSONObject, data: dict[str, Any]
    ) -> JSONObject:  # Any: JSON values
        operations = self._made(patch.get("expression") or "", data)
        if not isinstance(operations, list):
            raise ExpressionError("JSONPatch expression must evaluate to a list of JSONPatch")
        return json_patch.apply(document, operations)

    def _merged(
        self, configuration: JSONObject, document: JSONObject, data: dict[str, Any],
        bound: Bound, request: AdmissionRequest,
    ) -> JSONObject:  # fmt: skip
        config = self._made(configuration.get("expression") or "", data)
        if not isinstance(config, dict):
            raise ExpressionError("ApplyConfiguration expression must evaluate to an Object")
        if request.shape is not None:
            return {**document, **config}
        config = {**{key: document.get(key) for key in _IDENTITY}, **config}
        ftype = type_of(bound.seen)
        why = server_side_apply.refusal(ftype, config)
        if why:
            raise ExpressionError(why)
        whole = replaced_whole(ftype, {key: config[key] for key in config if key not in _IDENTITY})
        if whole:
            raise ExpressionError(
                f"may not mutate atomic arrays, maps or structs: {', '.join(whole)}"
            )
        merged: JSONObject = merge(ftype, document, config)
        return merged


def _denied(request: AdmissionRequest, why: str) -> StatusError:
    # 403 with the reason of another code is upstream's.
    details = {"name": request.name, "kind": request.ctx.resource.resource}
    group = request.ctx.resource.group
    if group:
        details["group"] = group
    return StatusError(403, "Invalid", why, details=details, causes=(Cause("", why),))
