"""Who asks for what, and what came of it: the values that go into the registry and come out again.

Made by `api` from a request, by `admin` from a form; the answers go back to them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.objects import Encoded


@dataclass(frozen=True, slots=True)
class UserInfo:
    """Who asks, as authentication found."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


SYSTEM = UserInfo("system:apiserver", groups=("system:masters",))  # the server itself


@dataclass(slots=True)
class RequestContext:
    """One authorized request for one resource.

    `name` is the name in the path, '' for a collection. `duplicates` are the paths of keys that
    stood twice in the body: whoever parsed it knows them, the registry decides what they mean;
    `members` are all its keys in the order of the text, where that is known.
    `force` takes what others own when a configuration is applied; `applied` is set by
    `registry.apply`, whose documents say already who owns what in them. `admitted` is set where
    admission has been asked already, about the form in which the change was sent. `warnings` is
    filled on the way and belongs into the answer's Warning headers.
    """

    user: UserInfo
    resource: Resource
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    dry_run: bool = False
    field_manager: str = ""
    field_validation: str = "Warn"
    force: bool = False
    applied: bool = False
    admitted: bool = False
    warnings: list[str] = field(default_factory=list)
    duplicates: tuple[str, ...] = ()
    members: tuple[tuple[str, bool], ...] = ()


class Written(NamedTuple):
    """What a create, an update or a patch left behind.

    `encoded` is of the served kind (of a Scale if that was asked for). `revision` is 0 when there
    is none to show: an object that a dry run would have created.
    """

    encoded: Encoded
    revision: int
    created: bool


class Deleted(NamedTuple):
    """What a delete did.

    `encoded` None asks for a Status that names `uid`; else the object is the answer. `gone` is
    False when it stays for its finalizers or its grace period.
    """

    encoded: Encoded | None
    revision: int
    gone: bool
    uid: str
