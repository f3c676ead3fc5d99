"""Selectors and terms of affinity, as nodes and pods match them.

Pure functions, used by `filters`, `scores` and the daemon set controller.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from listwatch.protocol.objects import JSONObject, labels_of
from listwatch.protocol.selectors import LabelSelector


def matches_node(spec: JSONObject, node: JSONObject) -> bool:
    """Whether a pod's nodeSelector and required node affinity want this node."""
    selector = spec.get("nodeSelector")
    labels = labels_of(node)
    if selector and any(labels.get(key) != value for key, value in selector.items()):
        return False
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return True
    terms = required.get("nodeSelectorTerms") or ()
    return any(matches_term(term, node) for term in terms)


def matches_term(term: JSONObject, node: JSONObject) -> bool:
    """Whether a node satisfies a node selector term; an empty one nothing does."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    labels, name = labels_of(node), {"metadata.name": node["metadata"]["name"]}
    return all(_holds(e, labels) for e in expressions) and all(_holds(f, name) for f in fields)


def _holds(expression: JSONObject, values: Mapping[str, str]) -> bool:
    key = expression["key"]
    wanted: list[str] = expression.get("values") or []
    value = values.get(key)
    match expression.get("operator"):
        case "In":
            return value in wanted
        case "NotIn":
            return value not in wanted
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt" as operator:
            if value is None or not _is_number(value) or len(wanted) != 1:
                return False
            limit = int(wanted[0])
            return int(value) > limit if operator == "Gt" else int(value) < limit
    return False


def _is_number(text: str) -> bool:
    return text.lstrip("-").isdecimal()


def tolerates(tolerations: Iterable[JSONObject], taint: JSONObject) -> bool:
    """Whether one of the tolerations tolerates the taint."""
    return any(_tolerates(toleration, taint) for toleration in tolerations)


def _tolerates(toleration: JSONObject, taint: JSONObject) -> bool:
    effect, key = toleration.get("effect"), toleration.get("key")
    if effect and effect != taint.get("effect"):
        return False
    if key and key != taint.get("key"):
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(key) and (toleration.get("value") or "") == (taint.get("value") or "")


def untolerated(spec: JSONObject, node: JSONObject, effects: Iterable[str]) -> JSONObject | None:
    """The first taint with one of the effects that a pod does not tolerate."""
    tolerations = spec.get("tolerations") or ()
    for taint in (node.get("spec") or {}).get("taints") or ():
        if taint.get("effect") in effects and not tolerates(tolerations, taint):
            return taint  # type: ignore[no-any-return]
    return None


def pod_terms(spec: JSONObject, kind: str) -> list[JSONObject]:
    """The required terms of `podAffinity` or `podAntiAffinity`."""
    affinity = (spec.get("affinity") or {}).get(kind) or {}
    terms: list[JSONObject] = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or []
    return terms


def wants_pod(term: JSONObject, owner: JSONObject, other: JSONObject) -> bool:
    """Whether a term of `owner` speaks of the other pod."""
    namespaces = term.get("namespaces") or []
    if not namespaces and term.get("namespaceSelector") is None:
        namespaces = [owner["metadata"]["namespace"]]
    everywhere = term.get("namespaceSelector") == {}
    if not everywhere and other["metadata"]["namespace"] not in namespaces:
        return False
    selector = LabelSelector.of(term.get("labelSelector"))
    return selector is not None and selector.matches(labels_of(other))
