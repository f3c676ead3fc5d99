"""A custom kind, made of its schema alone."""

from __future__ import annotations

from typing import Any

from listwatch.schemas.structural.kinds import StructuralKind


def kind_of(spec: dict[str, Any], **version: Any) -> StructuralKind:
    """The kind whose `spec` has this schema."""
    return kind_with({"type": "object", "properties": {"spec": spec}}, **version)


def kind_with(schema: dict[str, Any], **version: Any) -> StructuralKind:
    """The kind whose objects have this schema."""
    described = {"name": "v1", "schema": {"openAPIV3Schema": schema}, **version}
    return StructuralKind(
        described, stored=described, conversion={"strategy": "None"}, list_kind="WidgetList"
    )


def widget(spec: Any = None, **more: Any) -> dict[str, Any]:
    made = {"apiVersion": "w.test/v1", "kind": "Widget", "metadata": {"name": "a"}, **more}
    return made if spec is None else {**made, "spec": spec}


def messages(kind: StructuralKind, spec: Any, old: Any = None) -> list[str]:
    """What is wrong with a spec, each fault as a Status tells it."""
    faults = kind.faults(widget(spec), None if old is None else widget(old))
    return [f"{fault.field}: {fault.message}" for fault in faults]
