"""Asking in the name of somebody else: `Impersonate-User`, `-Group`, `-Uid` and `-Extra-*`.

Upstream's modes (KEP 5284): a user may be allowed to do just some verbs as another one
(`impersonate-on:user-info:list` together with `impersonate:user-info`), or all of them
(`impersonate`). `views` asks here after authentication; permissions are those of the other user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote

from listwatch.protocol.errors import StatusError, bad_request
from listwatch.protocol.names import quoted
from listwatch.registry.authorization.attributes import Attributes, refusal
from listwatch.registry.authorization.rules import go_strings
from listwatch.registry.context import UserInfo
from listwatch.registry.service_accounts import AUTHENTICATED, groups_of, split_user
from listwatch.registry.users import MASTERS

if TYPE_CHECKING:
    from listwatch.registry.authorization.authorizer import Authorizer

_ANONYMOUS, _UNAUTHENTICATED = "system:anonymous", "system:unauthenticated"
_NODE = "system:node:"
_NODES = "system:nodes"
_GROUP = "authentication.k8s.io"
_PREFIX = b"impersonate-"
_EXTRA = "impersonate-extra-"
_NODE_NAME = "authentication.kubernetes.io/node-name"


def wanted_user(headers: Iterable[tuple[bytes, bytes]]) -> UserInfo | None:
    """Who shall be impersonated; None if nobody; raises 400 if it is not said who."""
    given = [
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, value in headers
        if name.startswith(_PREFIX)
    ]
    if not given:
        return None
    name = uid = ""
    groups: list[str] = []
    extra: dict[str, tuple[str, ...]] = {}
    for header, value in given:
        if header == "impersonate-user":
            name = name or value
        elif header == "impersonate-uid":
            uid = uid or value
        elif header == "impersonate-group":
            groups.append(value)
        elif header.startswith(_EXTRA):
            key = unquote(header.removeprefix(_EXTRA)).lower()
            extra[key] = (*extra.get(key, ()), value)
    if name:
        return UserInfo(name, uid, tuple(groups), extra)
    if not (uid or groups or extra):
        return None
    raise bad_request(f"requested {_as_go(uid, groups, extra)} without impersonating a user name")


def impersonated(
    authorizer: Authorizer, user: UserInfo, other: UserInfo, request: Attributes
) -> UserInfo:
    """The other user, if this one may make the request in that name; raises 403 if not."""
    refused: StatusError | None = None
    for mode in _modes(user, other):
        try:
            return mode(authorizer, user, other, request)
        except StatusError as error:
            refused = refused or error
    assert refused is not None  # the last mode fits everybody
    raise refused


_Mode = Callable[["Authorizer", UserInfo, UserInfo, Attributes], UserInfo]


def _modes(user: UserInfo, other: UserInfo) -> Iterator[_Mode]:
    alone = not (other.uid or other.groups or other.extra)
    is_node, account = other.name.startswith(_NODE), split_user(other.name)
    if is_node:
        node = other.name.removeprefix(_NODE)
        if alone and split_user(user.name) and user.extra.get(_NODE_NAME) == (node,):
            yield _constrained("associated-node")
        if alone:
            yield _constrained("arbitrary-node")
    elif account is not None:
        if alone:
            yield _constrained("serviceaccount")
    else:
        yield _constrained("user-info")
    yield _legacy


def _constrained(name: str) -> _Mode:
    def mode(
        authorizer: Authorizer, user: UserInfo, other: UserInfo, request: Attributes
    ) -> UserInfo:
        # Whoever may impersonate at all may so upon everything: masters need no such verb.
        _ask(authorizer, user, request._replace(verb=f"impersonate-on:{name}:{request.verb}"))
        verb = f"impersonate:{name}"
        if MASTERS in other.groups:
            why = "impersonating the system:masters group is not allowed"
            raise refusal(user.name, Attributes(verb, _GROUP, "groups", name=MASTERS), why)
        if "" in other.groups:
            why = "impersonating the empty string group is not allowed"
            raise refusal(user.name, Attributes(verb, _GROUP, "groups"), why)
        return _become(authorizer, user, other, verb, _GROUP, any_name=name == "associated-node")

    return mode


def _legacy(
    authorizer: Authorizer, user: UserInfo, other: UserInfo, request: Attributes
) -> UserInfo:
    return _become(authorizer, user, other, "impersonate", "")


def _become(
    authorizer: Authorizer, user: UserInfo, other: UserInfo, verb: str, group: str,
    *, any_name: bool = False,
) -> UserInfo:  # fmt: skip
    name, groups = other.name, other.groups
    account = split_user(name)
    if account is not None:
        asked = Attributes(verb, group, "serviceaccounts", "", *account)
        groups = groups or groups_of(account[0])
    elif group and name.startswith(_NODE):
        node = "*" if any_name else name.removeprefix(_NODE)
        asked = Attributes(verb, group, "nodes", name=node)
        groups = (_NODES,)
    else:
        asked = Attributes(verb, group, "users", name=name)
    _ask(authorizer, user, asked)
    if other.uid:
        _ask(authorizer, user, Attributes(verb, _GROUP, "uids", name=other.uid))
    for one in other.groups:
        _ask(authorizer, user, Attributes(verb, group, "groups", name=one))
    for key, values in other.extra.items():
        for value in values:
            _ask(authorizer, user, Attributes(verb, _GROUP, "userextras", key, "", value))
    if name == _ANONYMOUS:
        groups = (*groups, *(() if _UNAUTHENTICATED in groups else (_UNAUTHENTICATED,)))
    elif _UNAUTHENTICATED not in groups and AUTHENTICATED not in groups:
        groups = (*groups, AUTHENTICATED)
    return UserInfo(name, other.uid, groups, other.extra)


def _ask(authorizer: Authorizer, user: UserInfo, asked: Attributes) -> None:
    if not authorizer.allows(user, asked):
        raise refusal(user.name, asked)


def _as_go(uid: str, groups: list[str], extra: dict[str, tuple[str, ...]]) -> str:
    listed = "[]string(nil)"
    if groups:
        listed = "[]string{" + go_strings(groups)[1:-1].replace('" "', '", "') + "}"
    mapped = "map[string][]string(nil)"
    if extra:
        pairs = (
            f"{quoted(key)}:[]string{{{', '.join(map(quoted, extra[key]))}}}"
            for key in sorted(extra)
        )
        mapped = "map[string][]string{" + ", ".join(pairs) + "}"
    return f'&user.DefaultInfo{{Name:"", UID:{quoted(uid)}, Groups:{listed}, Extra:{mapped}}}'
