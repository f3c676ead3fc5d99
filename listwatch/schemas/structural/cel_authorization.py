"""The authorizer in CEL, as `authorizer.group("apps").resource("pods").check("get").allowed()`.

What is asked for grows step by step in a map, since only plain values travel; `check` asks whoever
evaluates. Upstream: apiserver/pkg/cel/library/authz.go. The callers are `cel_library`, which takes
the functions, and `schemas.expressions`, which says who decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

# What is asked for (user, groups, group, resource, ..., verb), and whether it is allowed, and why.
Decide = Callable[[Mapping[str, str]], tuple[bool, str]]
_Asked = dict[str, Any]  # Any: texts, and the resource of the request

_deciding: ContextVar[Decide] = ContextVar("deciding")
ACCOUNT = "system:serviceaccount"


@contextmanager
def decided_by(decide: Decide) -> Iterator[None]:
    """Have this one decide what expressions check meanwhile."""
    token = _deciding.set(decide)
    try:
        yield
    finally:
        _deciding.reset(token)


def functions(cel: Any) -> Any:  # Any: the library, which may not be installed
    """The functions as an extension of the language."""
    kind = cel.Type
    asked, text = kind.Map(kind.STRING, kind.DYN), kind.STRING
    rows = [
        ("serviceAccount", asked, [asked, text, text], _as_account),
        ("check", asked, [asked, text], _check),
        ("allowed", kind.BOOL, [asked], lambda answer: _plain(answer)["allowed"]),
        ("reason", text, [asked], lambda answer: _plain(answer)["reason"]),
        ("errored", kind.BOOL, [asked], lambda _: False),
        ("error", text, [asked], lambda _: ""),
        *(
            (name, asked, [asked, text], _with(name))
            for name in (
                "path", "group", "resource", "subresource", "namespace", "name",
                "fieldSelector", "labelSelector",
            )
        ),
    ]  # fmt: skip
    declared = [
        cel.FunctionDecl(
            name, [cel.Overload(f"listwatch_authorizer_{name}", answer, takes, True, body)]
        )
        for name, answer, takes, body in rows
    ]
    return cel.CelExtension("kubernetes.authz", declared)


def _plain(value: Any) -> _Asked:  # Any: a map, whatever the library wraps it in
    found: _Asked = value.plain_value() if hasattr(value, "plain_value") else value
    return found


def _with(name: str) -> Callable[[Any, str], _Asked]:
    return lambda asked, value: {**_plain(asked), name: value}


def _as_account(asked: Any, namespace: str, name: str) -> _Asked:
    groups = f"{ACCOUNT}s\n{ACCOUNT}s:{namespace}\nsystem:authenticated"
    return {**_plain(asked), "user": f"{ACCOUNT}:{namespace}:{name}", "groups": groups}


def _check(asked: Any, verb: str) -> _Asked:
    wanted = {key: value for key, value in _plain(asked).items() if isinstance(value, str)}
    allowed, reason = _deciding.get()({**wanted, "verb": verb})
    return {"allowed": allowed, "reason": reason}
