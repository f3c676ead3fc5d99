"""Defaults: what an object gets for what it leaves out, its zero values included.

Three sources, applied at every object on the way down: zero values and defaults of the schema,
the constants of `builtin_defaults` and `group_defaults`, and their rules for what is no constant.
Parents come before their children. `registry` calls this after an object was brought into normal
form, and before it is validated; afterwards its form is the one that is stored.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from listwatch.schemas import builtin_defaults, group_defaults
from listwatch.schemas.shapes import MISSING, Kind, Shape, shape_of_kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from listwatch.protocol.kinds import GroupVersionKind
    from listwatch.protocol.objects import JSONObject


_CONSTANTS = {**builtin_defaults.CONSTANTS, **group_defaults.CONSTANTS}
_RULES = {**builtin_defaults.RULES, **group_defaults.RULES}


def apply_defaults(gvk: GroupVersionKind, document: JSONObject) -> None:
    """Fill in, in place, what the object leaves out; a kind that is not built in stays as it is.

    The object is in normal form (`decoding.decode`).
    """
    plan = _plan_of_kind(gvk)
    if plan is not None:
        plan.apply(document)


class _Plan:
    """What is filled in at one kind of object; made once for each schema."""

    __slots__ = ("children", "constants", "rule", "structs")

    def __init__(self) -> None:
        self.constants: tuple[tuple[str, Any], ...] = ()
        self.structs: tuple[str, ...] = ()
        self.rule: Callable[[JSONObject], None] | None = None
        self.children: tuple[tuple[str, Kind, _Plan], ...] = ()

    @property
    def empty(self) -> bool:
        return not (self.constants or self.structs or self.rule or self.children)

    def apply(self, value: JSONObject) -> None:
        for name, constant in self.constants:
            if name not in value:
                value[name] = constant
        for name in self.structs:
            if name not in value:
                value[name] = {}
        if self.rule is not None:
            self.rule(value)
        for name, kind, plan in self.children:
            inner = value.get(name)
            if inner is None:
                continue
            if kind is Kind.OBJECT:
                plan.apply(inner)
            else:
                for item in inner if kind is Kind.LIST else inner.values():
                    plan.apply(item)


@cache
def _plan_of_kind(gvk: GroupVersionKind) -> _Plan | None:
    shape = shape_of_kind(gvk)
    return None if shape is None else _plan(shape)


_plans: dict[str, _Plan] = {}


def _plan(shape: Shape) -> _Plan:
    plan = _plans.get(shape.name)
    if plan is None:
        # Known before it is complete: a schema may contain itself.
        plan = _plans[shape.name] = _Plan()
        _fill(plan, shape)
    return plan


def _fill(plan: _Plan, shape: Shape) -> None:
    constants, structs, children = [], [], []
    own = _CONSTANTS.get(shape.name, {})
    for name, field in shape.fields.items():
        if field.zero == {}:
            structs.append(name)
        elif field.zero is not MISSING and name not in own:
            constants.append((name, field.zero))
        inner = field.shape
        kind = inner.kind
        if kind in (Kind.LIST, Kind.MAP):
            inner = inner.items
        if inner.kind is Kind.OBJECT:
            child = _plan(inner)
            # One that is still being made contains itself: nobody knows yet what it will need.
            if not child.empty or child is plan:
                children.append((name, kind, child))
    plan.constants = (*constants, *own.items())
    plan.structs = tuple(structs)
    plan.children = tuple(children)
    plan.rule = _RULES.get(shape.name)
