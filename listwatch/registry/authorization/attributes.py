"""One request as authorization sees it, and its refusal in kube-apiserver's words.

Made by `api.permissions` of a path, by `registry.reviews` of a review's spec; asked of
`authorizer`.
"""

from __future__ import annotations

from typing import NamedTuple

from listwatch.protocol.errors import StatusError
from listwatch.protocol.kinds import GroupResource


class Attributes(NamedTuple):
    """A verb upon a resource, or (without `resource`) upon a `path` that is none."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""


def refusal(user: str, wanted: Attributes, why: str = "") -> StatusError:
    """403 that names user, verb and what was asked for."""
    if not wanted.resource:
        message = f'forbidden: User "{user}" cannot {wanted.verb} path "{wanted.path}"'
        return StatusError(403, "Forbidden", _with(message, why), details={})
    resource = GroupResource(wanted.group, wanted.resource)
    what = f"{wanted.resource}/{wanted.subresource}" if wanted.subresource else wanted.resource
    where = f'in the namespace "{wanted.namespace}"' if wanted.namespace else "at the cluster scope"
    named = f'{resource} "{wanted.name}"' if wanted.name else str(resource)
    message = (
        f'{named} is forbidden: User "{user}" cannot {wanted.verb} resource "{what}" '
        f'in API group "{wanted.group}" {where}'
    )
    details = {"name": wanted.name, "group": wanted.group, "kind": wanted.resource}
    details = {key: value for key, value in details.items() if value}
    return StatusError(403, "Forbidden", _with(message, why), details=details)


def _with(message: str, why: str) -> str:
    return f"{message}: {why}" if why else message
