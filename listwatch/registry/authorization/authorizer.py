"""The decision: whether a user may do something, and what a user may do at all.

Asked by `api.permissions` of every request, by reviews, impersonation and `escalation`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from listwatch.registry.authorization.index import Grant, RoleIndex
from listwatch.registry.authorization.rules import ANY, Rule

if TYPE_CHECKING:
    from listwatch.registry.authorization.attributes import Attributes
    from listwatch.registry.context import UserInfo

MASTERS = "system:masters"  # may do everything, whatever roles say
_EVERYTHING = (Rule((ANY,), (ANY,), (ANY,)), Rule((ANY,), urls=(ANY,)))


class Decision(NamedTuple):
    """Yes or no; `grant` is what said yes, None for a member of system:masters."""

    allowed: bool
    grant: Grant | None = None

    @property
    def reason(self) -> str:
        """The binding that allows it; nothing to say of the masters or of a no."""
        return "" if self.grant is None else self.grant.reason


_YES, _NO = Decision(allowed=True), Decision(allowed=False)


class Authorizer:
    """Kubernetes' RBAC over an index: an answer from memory, never waiting.

    Whoever must be sure that the newest roles count waits for the caches first. Owned by the
    caches' event loop.
    """

    def __init__(self, index: RoleIndex) -> None:
        self.index = index

    def decide(self, user: UserInfo, wanted: Attributes) -> Decision:
        """Whether the user may do this."""
        if MASTERS in user.groups:
            return _YES
        index = self.index
        index.refresh()
        subjects = [f"Group/{group}" for group in user.groups]
        subjects.append(f"User/{user.name}")
        for namespace in ("", wanted.namespace) if wanted.namespace else ("",):
            for subject in subjects:
                for grant in index.grants(namespace, subject):
                    if index.rules(grant.role).allows(wanted):
                        return Decision(allowed=True, grant=grant)
        return _NO

    def allows(self, user: UserInfo, wanted: Attributes) -> bool:
        """Whether the user may do this."""
        return MASTERS in user.groups or self.decide(user, wanted).allowed

    def rules(self, user: UserInfo, namespace: str = "") -> tuple[Rule, ...]:
        """Everything the user may do in a namespace, or ('') everywhere."""
        if MASTERS in user.groups:
            return _EVERYTHING
        self.index.refresh()
        return tuple(
            rule
            for grant in self._grants(user, namespace)
            for rule in self.index.rules(grant.role).rules
        )

    def _grants(self, user: UserInfo, namespace: str) -> Iterator[Grant]:
        subjects = [*(f"Group/{group}" for group in user.groups), f"User/{user.name}"]
        for where in ("", namespace) if namespace else ("",):
            for subject in subjects:
                yield from self.index.grants(where, subject)
