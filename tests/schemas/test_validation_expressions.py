"""Expressions that objects bring along are compiled before they are stored."""

from __future__ import annotations

import pytest

from listwatch.protocol.kinds import GroupVersionKind
from tests.schemas.validated import Document, told

GROUP = "admissionregistration.k8s.io"
KINDS = {
    kind: GroupVersionKind(GROUP, "v1", kind)
    for kind in ("MutatingAdmissionPolicy", "ValidatingAdmissionPolicy")
}


@pytest.mark.parametrize(
    ("kind", "spec", "field"),
    [
        ("ValidatingAdmissionPolicy", {"validations": [{"expression": "1 +"}]},
         "spec.validations[0].expression"),
        ("ValidatingAdmissionPolicy", {"validations": [{"expression": "object.x == nope"}]},
         "spec.validations[0].expression"),
        ("ValidatingAdmissionPolicy",
         {"validations": [{"expression": "true", "messageExpression": "1 +"}]},
         "spec.validations[0].messageExpression"),
        ("ValidatingAdmissionPolicy",
         {"validations": [{"expression": "variables.a"}],
          "variables": [{"name": "a", "expression": "x("}]},
         "spec.variables[0].expression"),
        ("MutatingAdmissionPolicy",
         {"reinvocationPolicy": "Never", "mutations": [
             {"patchType": "JSONPatch", "jsonPatch": {"expression": "1 +"}}]},
         "spec.mutations[0].jsonPatch.expression"),
        ("MutatingAdmissionPolicy",
         {"reinvocationPolicy": "Never", "mutations": [
             {"patchType": "ApplyConfiguration", "applyConfiguration": {
                 "expression": "Object{spec: Object.spec{replicas: 1}}"}}]}, ""),
    ],
)  # fmt: skip
def test_expressions_that_cannot_be_compiled_are_refused(
    kind: str, spec: Document, field: str
) -> None:
    rule = {
        "operations": ["CREATE"], "apiGroups": ["apps"], "apiVersions": ["v1"],
        "resources": ["deployments"],
    }  # fmt: skip

    found = told(KINDS[kind], {"spec": {"matchConstraints": {"resourceRules": [rule]}, **spec}})

    assert [text.partition(": Invalid value: ")[0] for text in found] == ([field] if field else [])
    assert all(": compilation failed: " in text for text in found)
