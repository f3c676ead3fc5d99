"""What a path and a method mean: verb, resource, namespace, name, as kube-apiserver reads them.

The only place that splits a path. `urls` looks the result up in the table of resources,
`permissions` asks the authorizer with it, so a path that nothing serves is authorized, too.
"""

from __future__ import annotations

from dataclasses import dataclass

_VERBS = {
    "GET": "get", "HEAD": "get", "POST": "create", "PUT": "update", "PATCH": "patch",
    "DELETE": "delete",
}  # fmt: skip
_SPECIAL_VERBS = frozenset({"watch", "proxy"})
_NAMESPACE_SUBRESOURCES = frozenset({"status", "finalize"})


@dataclass(frozen=True, slots=True)
class RequestInfo:
    """One request, before anything is looked up.

    `verb` is the lower-cased method where `is_resource` is False. Of a Namespace object, `name`
    and `namespace` are both its name. `selected` is the one name that the field selector of a
    collection leaves: who may see that object alone may list and watch it so. `rest` is what
    follows the subresource. `forced_watch` marks the deprecated /watch/ paths.
    """

    path: str
    verb: str
    is_resource: bool = False
    group: str = ""
    version: str = ""
    namespace: str = ""
    resource: str = ""
    name: str = ""
    subresource: str = ""
    rest: tuple[str, ...] = ()
    forced_watch: bool = False
    selected: str = ""


def parse(method: str, path: str, *, watch: bool = False, selected: str = "") -> RequestInfo:
    """Read a request; `watch` and `selected` are what its query says. Never fails."""
    parts = path.strip("/").split("/")
    group = ""
    if len(parts) >= 3 and parts[0] == "api":
        version, parts = parts[1], parts[2:]
    elif len(parts) >= 4 and parts[0] == "apis":
        group, version, parts = parts[1], parts[2], parts[3:]
    else:
        return RequestInfo(path, method.lower())
    verb, special = _VERBS.get(method, ""), parts[0] in _SPECIAL_VERBS
    if special:
        verb, parts = parts[0], parts[1:] or [""]
    namespace = ""
    if parts[0] == "namespaces" and len(parts) > 1:
        namespace = parts[1]
        if len(parts) > 2 and parts[2] not in _NAMESPACE_SUBRESOURCES:
            parts = parts[2:]
    resource, name, subresource, *rest = (*parts, "", "")[: max(len(parts), 3)]
    if not name and not special:
        verb = _of_collection(verb, watch=watch)
    return RequestInfo(
        path=path,
        verb=verb,
        is_resource=True,
        group=group,
        version=version,
        namespace=namespace,
        resource=resource,
        name=name,
        subresource=subresource,
        rest=tuple(rest),
        forced_watch=special and verb == "watch",
        selected="" if name else selected,
    )


def _of_collection(verb: str, *, watch: bool) -> str:
    if verb == "get":
        return "watch" if watch else "list"
    return "deletecollection" if verb == "delete" else verb
