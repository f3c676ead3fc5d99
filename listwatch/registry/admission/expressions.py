"""The variables that admission's expressions see: the objects and the request.

Evaluation is in `schemas.expressions`. Used by `webhooks` for match conditions and by `policies`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from listwatch.registry.admission.reviewing import review_of
from listwatch.schemas.expressions import ExpressionError, Expressions

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.admission.request import AdmissionRequest

__all__ = ["VARIABLES", "ExpressionError", "Expressions", "variables_of"]

VARIABLES = ("object", "oldObject", "request", "params", "namespaceObject", "variables")


def variables_of(
    request: AdmissionRequest,
    *,
    params: JSONObject | None = None,
    namespace: JSONObject | None = None,
) -> dict[str, Any]:  # Any: JSON values
    """What stands for each variable; `variables` is empty, and filled as they are computed."""
    asked = review_of(request)["request"]
    return {
        "object": asked.pop("object"),
        "oldObject": asked.pop("oldObject"),
        "request": asked,
        "params": params,
        "namespaceObject": namespace,
        "variables": {},
    }
