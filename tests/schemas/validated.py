"""What the tests of validation share: an object is decoded and defaulted before it is validated."""

from __future__ import annotations

import copy
from typing import Any

from listwatch.protocol.errors import Cause
from listwatch.protocol.kinds import GroupVersionKind
from listwatch.schemas.decoding import decode
from listwatch.schemas.defaults import apply_defaults
from listwatch.schemas.validation import validate

Document = dict[str, Any]  # Any: JSON

CONFIG_MAP = GroupVersionKind("", "v1", "ConfigMap")
SECRET = GroupVersionKind("", "v1", "Secret")
POD = GroupVersionKind("", "v1", "Pod")
SERVICE = GroupVersionKind("", "v1", "Service")
NAMESPACE = GroupVersionKind("", "v1", "Namespace")
DEPLOYMENT = GroupVersionKind("apps", "v1", "Deployment")
STATEFUL_SET = GroupVersionKind("apps", "v1", "StatefulSet")
LEASE = GroupVersionKind("coordination.k8s.io", "v1", "Lease")
SLICE = GroupVersionKind("discovery.k8s.io", "v1", "EndpointSlice")


def faults(gvk: GroupVersionKind, document: Document, old: Document | None = None) -> list[Cause]:
    document = copy.deepcopy(document)
    document.setdefault("metadata", {}).setdefault("name", "a")
    decode(gvk, document)
    apply_defaults(gvk, document)
    if old is not None:
        old = copy.deepcopy(old)
        old.setdefault("metadata", {}).setdefault("name", "a")
        decode(gvk, old)
        apply_defaults(gvk, old)
    return validate(gvk, document, old=old)


def told(gvk: GroupVersionKind, document: Document, old: Document | None = None) -> list[str]:
    """Each fault once, as the message of a Status has it."""
    causes = faults(gvk, document, old)
    return list(dict.fromkeys(f"{cause.field}: {cause.message}" for cause in causes))


LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)


def pod(**spec: Any) -> Document:  # Any: JSON
    return {"spec": {"containers": [{"name": "main", "image": "i:1"}], **spec}}
