"""Reads the facts of the built-in API off a live API server, and writes them as data files.

What is read: discovery (which resources there are), the columns of each resource's Table, and the
OpenAPI schemas. Of all this only names, types and numbers are kept, no prose. The numbers of the
protobuf messages are published nowhere by a server: that file stays.
The caller is the management command `refresh_schemas`; `facts` reads what it wrote.
"""

from __future__ import annotations

import gzip
import json
import re
import ssl
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from listwatch.schemas.facts import DATA

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

JSON = Any  # Any: whatever a server answers

_STABLE = re.compile(r"v\d+")
_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
_TIMEOUT = 30


class RefreshError(Exception):
    """The server cannot be read; its text says which address of it, and why."""


@dataclass(frozen=True, slots=True)
class Server:
    """Where a server is and how to be let in; `authority` is the file of its certificate's CA."""

    url: str
    token: str = field(default="", repr=False)
    authority: Path | None = None
    insecure: bool = False

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise RefreshError(f"{self.url} is no http or https address")

    def get(self, path: str, accept: str = "application/json") -> JSON:
        """The JSON at a path; raises RefreshError."""
        headers = {"Accept": accept}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        url = self.url.rstrip("/") + path
        request = urllib.request.Request(url, headers=headers)  # noqa: S310  # checked above
        try:
            with urllib.request.urlopen(  # noqa: S310  # checked above
                request, timeout=_TIMEOUT, context=self._context()
            ) as answer:
                return json.loads(answer.read())
        except (urllib.error.URLError, OSError, ValueError) as error:
            raise RefreshError(f"{url}: {error}") from error

    def _context(self) -> ssl.SSLContext | None:
        if not self.url.startswith("https://"):
            return None
        if self.insecure:
            return ssl._create_unverified_context()  # noqa: S323, SLF001  # asked for by name
        return ssl.create_default_context(cafile=self.authority)


@dataclass(frozen=True, slots=True)
class Facts:
    """What was read: the version as `1.36`, the rows of resources, the schemas by name."""

    version: str
    resources: list[JSON]
    schemas: dict[str, JSON]


def read(server: Server) -> Facts:
    """Everything of the stable built-in groups; raises RefreshError."""
    version = server.get("/version")
    number = f"{version['major']}.{re.sub('[^0-9]', '', version['minor'])}"
    schemas: dict[str, JSON] = {}
    rows = []
    for group, name in _group_versions(server):
        path = f"/apis/{group}/{name}" if group else f"/api/{name}"
        try:
            document = server.get(f"/openapi/v3{path}")
        except RefreshError:
            continue  # an aggregated server without documents is not built in
        components = document.get("components", {}).get("schemas", {})
        own = {key: plain(value) for key, value in components.items() if key.startswith("io.k8s.")}
        found = list(_rows(server, group, name, path, _kinds(own)))
        if found:
            schemas |= own
            rows += found
    return Facts(number, rows, dict(sorted(schemas.items())))


def write(facts: Facts, folder: Path = DATA) -> list[Path]:
    """Write the data files, in place of those of other versions; the files written."""
    resources = folder / f"resources-{facts.version}.json"
    schemas = folder / f"schemas-{facts.version}.json.gz"
    lines = ",\n".join(json.dumps(row, sort_keys=True) for row in facts.resources)
    text = json.dumps(facts.schemas, sort_keys=True, separators=(",", ":"))
    resources.write_text(f"[\n{lines}\n]\n")
    schemas.write_bytes(gzip.compress(text.encode(), mtime=0))
    for pattern, written in (("resources-*.json", resources), ("schemas-*.json.gz", schemas)):
        for other in folder.glob(pattern):
            if other != written:
                other.unlink()
    return [resources, schemas]


def _group_versions(server: Server) -> Iterator[tuple[str, str]]:
    for version in server.get("/api")["versions"]:
        yield "", version
    for group in server.get("/apis")["groups"]:
        for version in group["versions"]:
            if _STABLE.fullmatch(version["version"]):
                yield group["name"], version["version"]


def _kinds(schemas: dict[str, JSON]) -> set[tuple[str, str, str]]:
    return {
        (kind["group"], kind["version"], kind["kind"])
        for schema in schemas.values()
        for kind in schema.get("x-kubernetes-group-version-kind", ())
    }


def _rows(
    server: Server, group: str, version: str, path: str, kinds: set[tuple[str, str, str]]
) -> Iterator[JSON]:
    entries = server.get(path)["resources"]
    for entry in entries:
        # A custom resource has no schema under a built-in name.
        if "/" in entry["name"] or (group, version, entry["kind"]) not in kinds:
            continue
        row = {
            "group": group,
            "version": version,
            "resource": entry["name"],
            "kind": entry["kind"],
            "singular": entry.get("singularName", ""),
            "scope": "Namespaced" if entry["namespaced"] else "Cluster",
            "verbs": sorted(entry["verbs"]),
            "shortNames": entry.get("shortNames", []),
            "categories": entry.get("categories", []),
            "subresources": list(_subresources(entries, entry["name"])),
        }
        if "list" in entry["verbs"]:
            row["columns"] = _columns(server, f"{path}/{entry['name']}")
        yield row


def _subresources(entries: Iterable[JSON], resource: str) -> Iterator[JSON]:
    for entry in entries:
        owner, _, name = entry["name"].partition("/")
        if owner == resource and name:
            yield {
                "subresource": name,
                "kind": {
                    "group": entry.get("group", ""),
                    "version": entry.get("version", ""),
                    "kind": entry["kind"],
                },
                "verbs": sorted(entry["verbs"]),
            }


def _columns(server: Server, path: str) -> list[JSON]:
    table = server.get(f"{path}?limit=1", accept=_TABLE)
    return [
        {name: column[name] for name in ("name", "type", "format", "priority")}
        for column in table.get("columnDefinitions") or ()
    ]


_KEPT = frozenset({
    "type", "format", "required", "enum", "default", "items", "additionalProperties", "allOf",
    "anyOf", "oneOf", "not", "$ref", "nullable", "pattern", "minimum", "maximum",
})  # fmt: skip


def plain(schema: JSON) -> JSON:
    """A schema without its prose: types and facts only."""
    if isinstance(schema, list):
        return [plain(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    kept: dict[str, JSON] = {}
    for key, value in schema.items():
        if key == "properties":
            kept[key] = {name: plain(inner) for name, inner in value.items()}
        elif key == "x-kubernetes-group-version-kind":
            kept[key] = _own_kind(value)
        elif key in ("default", "enum") or key.startswith("x-kubernetes-"):
            kept[key] = value
        elif key in _KEPT:
            kept[key] = plain(value)
    return kept


def _own_kind(kinds: list[JSON]) -> list[JSON]:
    # A kind of options stands in every group; that it stands in the core group is enough.
    core = [kind for kind in kinds if not kind["group"] and kind["version"] == "v1"]
    return core if core and len(kinds) > 1 else kinds
