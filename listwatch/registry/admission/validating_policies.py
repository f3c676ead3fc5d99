"""ValidatingAdmissionPolicies: rules in CEL that are objects themselves, bound where they hold.

Upstream: apiserver/pkg/admission/plugin/policy/validating.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from listwatch.protocol.errors import Cause, StatusError, forbidden
from listwatch.registry.admission.expressions import ExpressionError
from listwatch.registry.admission.policies import Bound, Policies

if TYPE_CHECKING:
    from typing import Any

    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.admission.request import AdmissionRequest
    from listwatch.registry.authorization.authorizer import Authorizer
    from listwatch.registry.backend import Backend
    from listwatch.store.writes import Guard


_CODES = {"Unauthorized": 401, "Forbidden": 403, "Invalid": 422, "RequestEntityTooLarge": 413}


class _Failure(NamedTuple):
    """One validation that does not hold, or could not be evaluated."""

    message: str
    reason: str


class ValidatingPolicyPlugin(Policies):
    """Evaluates the policies that are bound."""

    def __init__(self, backend: Backend, authorizer: Authorizer) -> None:
        super().__init__(
            backend, authorizer, "validatingadmissionpolicies", "validatingadmissionpolicybindings"
        )

    async def check(self, request: AdmissionRequest) -> Guard | None:
        """Raise what a policy denies with; others only warn."""
        for bound in self.bound(request):
            where = f"ValidatingAdmissionPolicy {bound.where}"
            actions = bound.binding["spec"].get("validationActions") or []
            for failure in self._failures(bound, request):
                if "Warn" in actions:
                    warning = f"Validation failed for {where}: {failure.message}"
                    if warning not in request.ctx.warnings:
                        request.ctx.warnings.append(warning)
                if "Deny" in actions:
                    why = f"{where} denied request: {failure.message}"
                    raise _denied(request, why, failure.reason)
        return None

    def _failures(self, bound: Bound, request: AdmissionRequest) -> Iterator[_Failure]:
        try:
            for params in self.params(bound, request):
                yield from self._evaluated(bound, params, request)
        except ExpressionError as error:
            if not bound.ignores_failures:
                yield _Failure(str(error), "")

    def _evaluated(
        self, bound: Bound, params: JSONObject | None, request: AdmissionRequest
    ) -> Iterator[_Failure]:
        data = self.variables(bound, params, request)
        if data is None:
            return
        for validation in bound.spec.get("validations") or ():
            expression = validation["expression"]
            try:
                if self.expressions.holds(expression, data):
                    continue
                yield _Failure(self._message(validation, data), validation.get("reason") or "")
            except ExpressionError as error:
                if not bound.ignores_failures:
                    yield _Failure(f"expression '{expression}' resulted in error: {error}", "")

    def _message(self, validation: JSONObject, data: dict[str, Any]) -> str:  # Any: JSON values
        computed = validation.get("messageExpression")
        if computed:
            try:
                text = self.expressions.value(computed, data)
            except ExpressionError:
                text = ""
            if isinstance(text, str) and text.strip() and "\n" not in text:
                return text.strip()
        plain = (validation.get("message") or "").strip()
        return plain or f"failed expression: {validation['expression'].strip()}"


def _denied(request: AdmissionRequest, why: str, reason: str) -> StatusError:
    """The 4xx of a policy that says no."""
    refused = forbidden(request.ctx.resource.group_resource, request.name, why)
    reason = reason or "Invalid"
    return StatusError(
        _CODES.get(reason, 422), reason, refused.message,
        details=refused.details, causes=(Cause("", why),),
    )  # fmt: skip
