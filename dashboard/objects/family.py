"""The owner tree of an object: its owners up to the first, its dependents down.

Dependents are found by the uids that their owner references name, in the caches of kinds that the
user may list; an owner that is gone, or that the user may not get, is shown by what the reference
says of it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from dashboard.objects.catalogue import browsable, by_kind, object_url
from listwatch.protocol.objects import decode
from listwatch.watchcache.requests import ListRequest

if TYPE_CHECKING:
    from dashboard.objects.asker import Asker
    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.objects import JSONObject

JSON = dict[str, Any]  # Any: JSON values

DEEP = 8  # generations up and down
DEPENDENTS = 200  # in the whole tree
AT_ONCE = 500  # objects looked at in one turn of the loop


async def family(asker: Asker, resource: Resource, document: JSONObject) -> JSON:
    """The tree as rows with a `depth`: owners, the object itself at its place, dependents."""
    metadata = document["metadata"]
    own = {
        **_member(resource, metadata.get("namespace", ""), metadata["name"]),
        "uid": metadata["uid"],
        "self": True,
    }
    owners = _owners(asker, metadata)
    down, more = await _dependents(asker, metadata["uid"])
    levels = max((each["depth"] for each in owners), default=-1) + 1
    rows = [{**each, "depth": levels - 1 - each["depth"]} for each in reversed(owners)]
    rows.append({**own, "depth": levels})
    rows += [{**each, "depth": levels + 1 + each["depth"]} for each in down]
    return {"rows": rows, "owners": len(owners), "dependents": len(down), "more": more}


def _member(resource: Resource, namespace: str, name: str) -> JSON:
    return {
        "kind": resource.kind,
        "api_version": resource.api_version,
        "namespace": namespace,
        "name": name,
        "url": object_url(resource, namespace, name),
    }


def _owners(asker: Asker, metadata: JSONObject) -> list[JSON]:
    """The owners, nearest first; `depth` counts generations from 0."""
    found: list[JSON] = []
    seen = {metadata.get("uid")}
    here = [(metadata, 0)]
    while here:
        of, depth = here.pop(0)
        for reference in of.get("ownerReferences") or []:
            if reference.get("uid") in seen or depth >= DEEP:
                continue
            seen.add(reference.get("uid"))
            row, above = _owner(asker, reference, metadata.get("namespace", ""))
            found.append({**row, "depth": depth})
            if above is not None:
                here.append((above, depth + 1))
    return found


def _owner(asker: Asker, reference: JSONObject, namespace: str) -> tuple[JSON, JSONObject | None]:
    """One owner as a row, and its metadata if it may be seen."""
    name, kind = str(reference.get("name")), str(reference.get("kind"))
    api_version = str(reference.get("apiVersion"))
    row: JSON = {
        "kind": kind, "api_version": api_version, "namespace": "", "name": name, "url": "",
        "uid": reference.get("uid"), "controller": bool(reference.get("controller")), "state": "",
    }  # fmt: skip
    resource = by_kind(asker.runtime.resources, api_version, kind)
    if resource is None:
        return {**row, "state": "kind not served"}, None
    place = namespace if resource.namespaced else ""
    row |= {"namespace": place, "url": object_url(resource, place, name)}
    if not asker.may("get", resource, place, name):
        return {**row, "url": "", "state": "not yours to see"}, None
    found = asker.runtime.caches.cacher(resource.storage).list(
        ListRequest(namespace=place, name=name)
    )
    if not found.versions or found.versions[0].uid != reference.get("uid"):
        state = "gone, another has its name" if found.versions else "gone"
        return {**row, "state": state}, None
    version = found.versions[0]
    metadata: JSONObject = decode(version.encoded, version.revision)["metadata"]
    return row, metadata


async def _dependents(asker: Asker, uid: str) -> tuple[list[JSON], bool]:
    """All dependents in the order of a tree, each behind its owner, and whether there are more."""
    by_owner = await _references(asker)
    found: list[JSON] = []
    seen = {uid}

    def visit(owner: str, depth: int) -> None:
        for row in by_owner.get(owner, ()):
            if len(found) > DEPENDENTS or row["uid"] in seen or depth >= DEEP:
                continue
            seen.add(row["uid"])
            found.append({**row, "depth": depth})
            visit(row["uid"], depth + 1)

    visit(uid, 0)
    return found[:DEPENDENTS], len(found) > DEPENDENTS


async def _references(asker: Asker) -> dict[str, list[JSON]]:
    """All objects that name an owner and may be seen, by the owner's uid."""
    by_owner: dict[str, list[JSON]] = {}
    looked = 0
    for resource in browsable(asker.runtime.resources.served()):
        if resource.storage != resource.group_resource:
            continue
        cacher = asker.runtime.caches.cacher(resource.storage)
        for namespace in asker.places("list", resource):
            for version in cacher.list(ListRequest(namespace=namespace)).versions:
                looked += 1
                if looked % AT_ONCE == 0:
                    await asyncio.sleep(0)
                if b'"ownerReferences"' not in version.encoded.body:
                    continue  # most have none, and need not be parsed
                metadata = decode(version.encoded, version.revision)["metadata"]
                row = {
                    **_member(resource, version.namespace, version.name),
                    "uid": version.uid,
                    "state": "on its way out" if metadata.get("deletionTimestamp") else "",
                }
                for reference in metadata.get("ownerReferences") or []:
                    by_owner.setdefault(str(reference.get("uid")), []).append(row)
    return by_owner
