"""What no client should send: bodies, query strings, headers and names, drawn from a seed.

`test_requests` puts them together; a failure names its seed, which draws the same again.
"""

from __future__ import annotations

import json
import random
from urllib.parse import quote

METHODS = ("GET", "GET", "POST", "POST", "PUT", "PUT", "PATCH", "PATCH", "DELETE", "HEAD",
           "OPTIONS", "TRACE", "LIST", "WATCH", "get", "PROPFIND", "X")  # fmt: skip
CONTENT_TYPES = (
    b"application/json", b"application/json", b"application/yaml",
    b"application/vnd.kubernetes.protobuf", b"application/json-patch+json",
    b"application/merge-patch+json", b"application/strategic-merge-patch+json",
    b"application/apply-patch+yaml", b"application/apply-patch+cbor", b"application/cbor",
    b"", b"text/plain", b"application/json; charset=utf-16", b"application/json;;;=",
    b"multipart/form-data", b"application/x-www-form-urlencoded", b"/", b"*/*", b"\xff\xfe",
    b"application/json, application/yaml", b"a" * 4000,
)  # fmt: skip
ACCEPTS = (
    b"application/json", b"application/json", b"*/*", b"application/yaml", b"", b"text/html",
    b"a/b;q=x",
    b"application/vnd.kubernetes.protobuf", b"application/json;as=Table;v=v1;g=meta.k8s.io",
    b"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    b"application/json;as=Table;v=v9;g=x", b"application/json;stream=watch", b",,,;;;", b"\xff",
    b"application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io",
)  # fmt: skip
NUMBERS = (
    "0", "-0", "-1", "1.5", "1e400", "-1e400", "9223372036854775807", "9223372036854775808",
    "-9223372036854775809", "18446744073709551616", "1" + "0" * 400, "1" + "0" * 5000,
    "0." + "1" * 400, "1E-400",
)  # fmt: skip
PARAMETERS = (
    "watch", "limit", "continue", "resourceVersion", "resourceVersionMatch", "sendInitialEvents",
    "allowWatchBookmarks", "timeoutSeconds", "timeout", "labelSelector", "fieldSelector", "pretty",
    "dryRun", "fieldManager", "fieldValidation", "force", "gracePeriodSeconds", "orphanDependents",
    "propagationPolicy", "includeObject", "follow", "tailLines", "sinceTime", "container",
    "ignoreStoreReadErrorWithClusterBreakingPotential", "verbose", "exclude", "",
)  # fmt: skip
ODD_VALUES = (
    "", "true", "1", "0", "-1", "x", "null", "All", "Exact", "NotOlderThan", "Strict", "0x10",
    "1.5", "9" * 40, "%00", "%ff%fe", "%", "%zz", "%C3%28", "%F0%9F%98%80", "a=b", "a%3Db",
    "a+in+(", "a in (b", "!", "!!a", "=", ",", ",,,", "a,,b", "a notin ()", "metadata.name=x",
    "metadata.name%3D%00", "metadata.name!=", "status.phase==,", "a%3D%5C", "(" * 2000,
    "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiIn0", "e30", "bnVsbA", "W10",
    "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIuLi8uLi8ifQ", "a" * 5000,
)  # fmt: skip
NAMES = (
    "a", "default", "kube-system", "..", ".", "%2e%2e", "a%2fb", "%00", "%ff", "A_B", "a" * 300,
    "%F0%9F%98%80", "a b".replace(" ", "%20"), "-", "a%0d%0ab", "*", "~", "a:b", ";", "%",
)  # fmt: skip


def body(draw: random.Random, kind: tuple[str, str]) -> bytes:
    """A body; half of them are objects of the kind with something odd in them."""
    choice = draw.randrange(20)
    if choice == 0:
        return b""
    if choice == 1:
        return draw.randbytes(draw.choice((1, 7, 300, 70_000)))
    if choice == 2:
        opened = draw.choice((b"[", b'{"a":', b"- ", b"{a: ", b"[[{", b"&a [*a,"))
        return opened * draw.choice((50, 1000, 20_000, 100_000))
    if choice == 3:
        deep = draw.choice((100, 900, 1100, 9000, 100_000))
        return b'{"metadata":{"name":"a"},"spec":' + b"[" * deep + b"]" * deep + b"}"
    if choice == 4:
        return b"k8s\x00" + draw.randbytes(draw.choice((0, 1, 2, 40, 5000)))
    if choice == 5:
        return draw.choice((b"null", b"true", b"1", b'"a"', b"[]", b"{}", b"\xef\xbb\xbf{}",
                            b"\x00", b"{}{}", b"NaN", b"!!python/object:os.system a", b"a: *b",
                            b"--- a\n--- b", b"{1: 2}", b"? [a]\n: b", b"2001-01-01"))  # fmt: skip
    if choice == 6:
        paths = ("", "/", "/metadata", "/metadata/name", "/a/b/c", "/~2", "/-", "/spec/-", "a")
        steps = [
            {"op": draw.choice(("add", "remove", "replace", "move", "copy", "test", "x", 1)),
             "path": draw.choice(paths), "from": draw.choice(paths), "value": anything(draw)}
            for _ in range(draw.choice((1, 2, 12_000)))
        ]  # fmt: skip
        return json.dumps(steps).encode()
    text = json.dumps(odd_object(draw, kind)).encode()
    text = text.replace(b'"@number"', draw.choice(NUMBERS).encode())
    if choice == 7 and len(text) > 4:
        at = draw.randrange(len(text))
        text = text[:at] + draw.choice((b"\xff", b"\xed\xa0\x80", b"\x00", b'"', b"")) + text[at:]
    return text


def odd_object(draw: random.Random, kind: tuple[str, str]) -> dict[str, object]:
    """An object of a kind, with odd values where the API and the kind expect others."""
    version, name = kind
    metadata: dict[str, object] = {"name": draw.choice(("a", "b", "c"))}
    made: dict[str, object] = {"apiVersion": version, "kind": name, "metadata": metadata}
    for _ in range(draw.randrange(4)):
        field = draw.choice((
            "name", "generateName", "namespace", "uid", "resourceVersion", "labels", "annotations",
            "finalizers", "ownerReferences", "managedFields", "deletionTimestamp", "generation",
            "creationTimestamp", "deletionGracePeriodSeconds", "selfLink", "x",
        ))  # fmt: skip
        metadata[field] = anything(draw)
    for _ in range(draw.randrange(5)):
        field = draw.choice((
            "spec", "status", "data", "binaryData", "rules", "subjects", "roleRef", "type", "value",
            "webhooks", "subsets", "endpoints", "ports", "secrets", "items", "template", "metadata",
            "apiVersion", "kind", "provisioner", "parameters", "reason", "involvedObject", "target",
            "$patch", "preconditions", "propagationPolicy", "gracePeriodSeconds", "dryRun",
        ))  # fmt: skip
        made[field] = anything(draw)
    return made


def anything(draw: random.Random, depth: int = 0) -> object:
    """Any value of JSON."""
    choice = draw.randrange(12 if depth < 4 else 8)
    simple = (
        None, True, "", "@number", "a", -1, draw.choice(NAMES),
        draw.choice(("\x00", "\ud800", "😀" * 50, "a" * 70_000, "1Gi", "9" * 50 + "Ei", "10s",
                     "2001-01-01T00:00:00Z", "9999-99-99T99:99:99Z", "0001-01-01T00:00:00Z",
                     "[*", "self.x(", "http://[", "10.0.0.0/99", "::1", "%")),
    )  # fmt: skip
    if choice < len(simple):
        return simple[choice]
    keys = (
        "name", "spec", "containers", "selector", "matchLabels", "matchExpressions", "template",
        "metadata", "labels", "replicas", "ports", "rules", "versions", "schema", "group", "names",
        "openAPIV3Schema", "properties", "items", "type", "key", "operator", "values", "$patch",
        "$setElementOrder/containers", "$retainKeys", "$deleteFromPrimitiveList/finalizers", "",
        "clientConfig", "expression", "validations", "scope", "request", "hard", "limits", "a.b/c",
    )  # fmt: skip
    if choice < 11:
        return {draw.choice(keys): anything(draw, depth + 1) for _ in range(draw.randrange(4))}
    return [anything(draw, depth + 1) for _ in range(draw.randrange(4))]


def query(draw: random.Random) -> str:
    """A query string, with its question mark if there is one."""
    if draw.randrange(3) == 0:
        return ""
    if draw.randrange(12) == 0:
        text = draw.randbytes(draw.choice((3, 40, 400))).decode("latin-1")
        return "?" + quote(text, safe="%&=+;", encoding="latin-1")
    pairs = [
        f"{draw.choice(PARAMETERS)}={draw.choice(ODD_VALUES)}" for _ in range(draw.randrange(5))
    ]
    return "?" + draw.choice(("&", "&", ";", "&&")).join(pairs)


def path(draw: random.Random, route: str) -> str:
    """A route with names in it, now and then bent."""
    while "{}" in route:
        name = draw.choice(NAMES) if draw.randrange(3) == 0 else draw.choice(("a", "default"))
        route = route.replace("{}", name, 1)
    bend = draw.randrange(25)
    if bend == 0:
        return route + "/"
    if bend == 1:
        return route.replace("/", "//", 1)
    if bend == 2:
        return route + "/" + draw.choice(NAMES)
    return route
