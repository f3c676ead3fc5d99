# ruff: noqa: B905, E501, PYI024, RUF005, SIM105
# mypy: ignore-errors
# (A tool of its own, kept as it is used against real servers: it needs nothing but Python.)
"""Record what one Kubernetes API server answers, and check another against it.

    replay.py record --url https://127.0.0.1:6443 --token T scenarios/*.json --out transcripts
    replay.py check  --url http://127.0.0.1:8080 [--token T] [--only ID] [--verbose] transcripts/*.json

A *scenario* is a JSON file: a list of HTTP requests about one behaviour, plus
what of each answer is to be compared. ``record`` plays it against a real
server and writes a *transcript*: the same file with the answers added, in a
normalised form. ``check`` plays a transcript's requests against another
server, normalises what that one says in the same way, and prints the
differences. It exits 1 if there are any.

Scenario fields
---------------
id, title       what it is about; note: why something is ignored
namespace       false: do not make a namespace (default: one per run, ${ns})
vars            {name: default}; --var name=value overrides
ignore, mask    paths dropped from / reduced to "<masked>" in every answer
steps           a list of:

    id            name of the step
    method, path  the request; "headers": {name: value, or null to drop one}
    body          JSON body, or rawBody: text sent as it stands
    capture       {variable: path} taken from the answer, used as ${variable};
                  "header:NAME" takes a header
    until         {"status": 200} and/or {"path": P, "equals": V}, "seconds": s
                  repeat the request until that holds
    watch         {"events": n, "seconds": s}: read a stream, up to n events,
                  up to s seconds, or until the server ends it; plain
                  bookmarks may come at any time, and are left out unless
                  "bookmarks": true
    background    true: start this watch now, and go on
    join          id of a background step: its answer is this step's answer
    sleep         seconds to wait, before the request if there is one
    compare       {"status": true,            compare the status code
                   "headers": [names],        compare these headers
                   "body": "exact"            everything
                         | "subset"           what was recorded must be there;
                                              lists of named things by name
                         | "status-object"    exact, but for the messages
                         | "none",
                   "ignore": [], "only": [], "mask": [] }

In strings: ${name}, ${number+5}, ${number-5}, ${repeat:x:300}. Standing
variables: ${ns} (this run's namespace, also fit for a prefix) and ${server}.

Paths
-----
``spec.containers.0.image``; ``*`` is any key or index, ``**`` any number of
them; ``items[name=web].verbs`` takes the elements whose ``name`` is ``web``;
a key with dots is written ``labels["app.test/x"]``.

Normalisation
-------------
uids                <uid0>, <uid1>, ... by first appearance
resourceVersions    of objects: <rv0>, <rv1>, ... by rank within the scenario;
                    of collections and bookmarks: <rvN+>, "not before rvN, and
                    before the next one", since other traffic may move them
continue            decoded to {v, rv, start}
timestamps          <time> or <time.6> (with microseconds); years before 2020
                    are the scenario's own data and stay
managedFields       without time, sorted
names               of generateName: <prefix><rand>; the namespace: ${ns}
messages            about resource versions: numbers become <n>
also                the server's address, JWTs, the age cells of Tables

A transcript has, in each step that is compared, an "answer": {status, headers,
body, end}; the end of a stream is "events", "seconds" or "closed by server".
On a check, <rvN> and <uidN> are bound to what the server says where they
first appear, so one missing answer does not shift all the others.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import collections
import concurrent.futures
import difflib
import gzip
import http.client
import json
import pathlib
import random
import re
import ssl
import string
import sys
import threading
import time
import urllib.parse

# --------------------------------------------------------------------- paths

TOKEN = re.compile(
    r'\[(?P<field>[^=\]"]+)=(?P<value>[^\]]*)\]|\["(?P<quoted>[^"]+)"\]|(?P<plain>[^.\[]+)'
)


def parse_path(text):
    """'a.b[k=v]["x.y"].*' -> ['a', 'b', ('k', 'v'), 'x.y', '*']"""
    return [
        (match["field"], match["value"]) if match["field"] else match["quoted"] or match["plain"]
        for match in TOKEN.finditer(text)
    ]


def token_matches(token, key, child):
    if isinstance(token, tuple):
        return isinstance(child, dict) and str(child.get(token[0])) == token[1]
    return token == "*" or token == str(key)


def advance(patterns, key, child):
    """One step down to child: is it matched, and which patterns go on below?"""
    hit, below = False, []
    for pattern in patterns:
        tails = [pattern]
        if pattern[0] == "**":
            below.append(pattern)
            tails = [pattern[1:]]
        for tail in tails:
            if token_matches(tail[0], key, child):
                if len(tail) == 1:
                    hit = True
                else:
                    below.append(tail[1:])
    return hit, below


def children(node):
    if isinstance(node, dict):
        return list(node.items())
    return list(enumerate(node)) if isinstance(node, list) else []


def rebuild(node, pairs):
    return dict(pairs) if isinstance(node, dict) else [child for _, child in pairs]


def drop(node, patterns):
    if not patterns or not isinstance(node, (dict, list)):
        return node
    kept = []
    for key, child in children(node):
        hit, below = advance(patterns, key, child)
        if not hit:
            kept.append((key, drop(child, below)))
    return rebuild(node, kept)


def keep(node, patterns):
    kept = []
    for key, child in children(node):
        hit, below = advance(patterns, key, child)
        if hit:
            kept.append((key, child))
        elif below and isinstance(child, (dict, list)):
            part = keep(child, below)
            if part:
                kept.append((key, part))
    return rebuild(node, kept) if isinstance(node, (dict, list)) else node


def mask(node, patterns):
    if not patterns or not isinstance(node, (dict, list)):
        return node
    done = []
    for key, child in children(node):
        hit, below = advance(patterns, key, child)
        done.append((key, "<masked>" if hit else mask(child, below)))
    return rebuild(node, done)


def lookup(node, path):
    """The first value at path, or None."""
    for token in parse_path(path):
        for key, child in children(node):
            if token_matches(token, key, child):
                node = child
                break
        else:
            return None
    return node


# ---------------------------------------------------------------------- HTTP

Answer = collections.namedtuple("Answer", "status headers body end", defaults=(None,))


class Client:
    """Plain requests and watch streams; every request has its own connection."""

    def __init__(self, url, token):
        parts = urllib.parse.urlsplit(url)
        self.secure = parts.scheme == "https"
        self.host = parts.hostname
        self.port = parts.port or (443 if self.secure else 80)
        self.address = f"{self.host}:{self.port}"
        self.token = token
        self.tls = ssl.create_default_context()
        self.tls.check_hostname = False
        self.tls.verify_mode = ssl.CERT_NONE

    def connect(self, timeout):
        if self.secure:
            return http.client.HTTPSConnection(
                self.host, self.port, timeout=timeout, context=self.tls
            )
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def headers(self, extra, has_body):
        headers = {"Accept": "application/json", "User-Agent": "replay"}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        if has_body:
            headers["Content-Type"] = "application/json"
        for name, value in (extra or {}).items():
            headers = {k: v for k, v in headers.items() if k.lower() != name.lower()}
            if value is not None:
                headers[name] = value
        return headers

    def request(self, method, path, headers=None, body=None, timeout=30):
        connection = self.connect(timeout)
        try:
            try:
                connection.request(
                    method, path, body=body, headers=self.headers(headers, body is not None)
                )
            except BrokenPipeError:
                pass  # the server has seen enough of a large body, and may have answered
            response = connection.getresponse()
            return Answer(
                response.status, response.headers, decode(response.headers, response.read())
            )
        except (OSError, http.client.HTTPException) as error:
            return Answer(0, {}, f"no answer: {type(error).__name__}: {error}")
        finally:
            connection.close()

    def watch(self, path, headers, limit, seconds, bookmarks, opened):
        """Read a stream of events; opened is set once the headers are here."""
        deadline = time.monotonic() + seconds
        connection = self.connect(30)
        events, end, response = [], "seconds", None
        try:
            connection.connect()
            sock = connection.sock
            connection.request("GET", path, headers=self.headers(headers, False))
            sock.settimeout(max(0.05, seconds + 5))
            response = connection.getresponse()
            opened.set()
            if response.status != 200:
                return Answer(
                    response.status, response.headers, decode(response.headers, response.read())
                )
            while len(events) < limit:
                sock.settimeout(max(0.01, deadline - time.monotonic()))
                line = response.readline()
                if not line:
                    end = "closed by server"
                    break
                plain_bookmark = b'"BOOKMARK"' in line and b"initial-events-end" not in line
                if line.strip() and (bookmarks or not plain_bookmark):
                    events.append(parse_json(line))
            else:
                end = "events"
        except TimeoutError:
            pass
        except (OSError, http.client.HTTPException) as error:
            end = f"broken: {type(error).__name__}: {error}"
        finally:
            opened.set()
            connection.close()
        if response is None:
            return Answer(0, {}, f"no answer: {end}")
        return Answer(response.status, response.headers, events, end)


def parse_json(data):
    try:
        return json.loads(data)
    except ValueError:
        return {"$text": data.decode("utf-8", "replace")}


def decode(headers, data):
    if headers.get("Content-Encoding") == "gzip":
        data = gzip.decompress(data)
    if data[:4] == b"k8s\0":
        return {"$protobuf": True}
    if "json" in (headers.get("Content-Type") or "") or data[:1] == b"{":
        return parse_json(data)
    return {"$text": data.decode("utf-8", "replace")}


# ------------------------------------------------------------ playing a scenario


class Run:
    """One scenario, played once against one server."""

    def __init__(self, client, scenario, overrides):
        self.client = client
        self.scenario = scenario
        self.ns = "kit-" + "".join(random.choices(string.ascii_lowercase, k=7))
        self.vars = dict(scenario.get("vars", {}), **overrides, ns=self.ns, server=client.address)
        self.answers = {}  # step id -> Answer
        self.streams = {}  # step id -> thread
        self.made = []  # paths of what was created, oldest first
        self.prefixes = set()  # every generateName that was sent

    def play(self):
        if self.scenario.get("namespace", True):
            self.send(
                "POST", "/api/v1/namespaces", None, json.dumps({"metadata": {"name": self.ns}})
            )
        try:
            for step in self.scenario["steps"]:
                self.step(step)
        finally:
            for thread in self.streams.values():
                thread.join()
            self.clean_up()
        return self.answers

    def step(self, step):
        if "sleep" in step:
            time.sleep(step["sleep"])
        if "join" in step:
            self.streams[step["join"]].join()
            self.answers[step["id"]] = self.answers.pop(step["join"], Answer(0, {}, "no answer"))
        elif "watch" in step:
            self.open_stream(step)
        elif "path" in step:
            self.answers[step["id"]] = self.send_until(step)
        answer = self.answers.get(step["id"])
        for name, path in step.get("capture", {}).items():
            if path.startswith("header:"):
                value = answer.headers.get(path[7:])
            else:
                value = lookup(answer.body, path)
            self.vars[name] = "0" if value is None else str(value)

    def open_stream(self, step):
        opened = threading.Event()
        path, headers = self.fill(step["path"]), self.fill(step.get("headers"))
        how = step["watch"]
        limits = how.get("events", 1000), how.get("seconds", 2), how.get("bookmarks", False)

        def read():
            self.answers[step["id"]] = self.client.watch(path, headers, *limits, opened)

        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        if step.get("background"):
            self.streams[step["id"]] = thread
            opened.wait(2)
        else:
            thread.join()

    def send_until(self, step):
        goal = step.get("until", {})
        deadline = time.monotonic() + goal.get("seconds", 10)
        body = step.get("rawBody")
        if "body" in step:
            body = self.fill(step["body"])
            if isinstance(body, dict) and lookup(body, "metadata.generateName"):
                self.prefixes.add(lookup(body, "metadata.generateName"))
            body = json.dumps(body)
        elif body is not None:
            body = self.fill(body)
        while True:
            answer = self.send(
                step["method"], self.fill(step["path"]), self.fill(step.get("headers")), body
            )
            reached = answer.status == goal.get("status", answer.status)
            if "path" in goal:
                reached = reached and lookup(answer.body, goal["path"]) == goal["equals"]
            if reached or time.monotonic() > deadline:
                return answer
            time.sleep(0.1)

    def send(self, method, path, headers=None, body=None):
        if isinstance(body, str):
            body = body.encode()
        answer = self.client.request(method, path, headers, body)
        if answer.status in (200, 201) and method in ("POST", "PUT", "PATCH"):
            self.remember(path, answer.body, parse_json(body or b""))
        return answer

    def remember(self, path, answered, sent):
        """Note what a successful write made, so that it can be removed.

        The name is in the answer, or, if that is a Table or YAML, in what was sent.
        """
        path, _, query = path.partition("?")
        metas = [body.get("metadata") for body in (answered, sent) if isinstance(body, dict)]
        meta = next((meta for meta in metas if isinstance(meta, dict) and meta.get("name")), None)
        if "dryRun" in query or not meta:
            return
        resource = re.fullmatch(
            r"(/api/[^/]+|/apis/[^/]+/[^/]+)(/namespaces/[^/]+(?=/))?/([^/]+)(/[^/]+)?", path
        )
        if resource:
            path = path if resource[4] else f"{path.rstrip('/')}/{meta['name']}"
            if path not in self.made:
                self.made.append(path)

    def clean_up(self):
        for path in reversed(self.made):
            answer = self.client.request(
                "DELETE", path + "?gracePeriodSeconds=0&propagationPolicy=Background"
            )
            meta = answer.body.get("metadata") if isinstance(answer.body, dict) else None
            if answer.status >= 300 or not isinstance(meta, dict):
                continue
            namespace = re.fullmatch(r"/api/v1/namespaces/([^/]+)", path)
            if namespace:
                empty = {
                    "apiVersion": "v1",
                    "kind": "Namespace",
                    "metadata": {"name": namespace[1]},
                    "spec": {"finalizers": []},
                }
                self.client.request("PUT", path + "/finalize", None, json.dumps(empty).encode())
            if meta.get("finalizers") and "/customresourcedefinitions/" not in path:
                patch = {"Content-Type": "application/merge-patch+json"}
                self.client.request("PATCH", path, patch, b'{"metadata":{"finalizers":null}}')

    def fill(self, value):
        """Put the variables' values for ${...} in every string of value."""
        if isinstance(value, dict):
            return {self.fill(key): self.fill(child) for key, child in value.items()}
        if isinstance(value, list):
            return [self.fill(child) for child in value]
        if isinstance(value, str):
            return re.sub(r"\$\{([^}]+)\}", lambda match: self.expand(match[1]), value)
        return value

    def expand(self, expression):
        if expression.startswith("repeat:"):
            _, text, count = expression.split(":")
            return text * int(count)
        name, sign, number = re.fullmatch(r"(\w+)(?:([+-])(\d+))?", expression).groups()
        value = self.vars[name]
        if not sign:
            return value
        return str(int(value if value.isdigit() else 0) + int(sign + number))


# ------------------------------------------------------------------ normalising

RV = collections.namedtuple("RV", "value floor")  # floor: of a collection or a bookmark

UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
UID_NAME = re.compile(r"<uid\d+>")
TIME = re.compile(r"\b(20[2-9]\d)-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(?:Z|\+00:00)")
JWT = re.compile(r"\beyJ[\w-]+\.eyJ[\w-]+\.[\w-]+")
AGE = re.compile(r"(\d+[smhdy])+")
EVENT_TYPES = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"}


class Tidy:
    """Rewrites an answer so that only what should be the same is left.

    resourceVersions become RV tuples; they and the uids are named later,
    when all answers of the scenario are known (see Names).
    """

    def __init__(self, run):
        self.ns = run.ns
        self.address = run.client.address
        # a generated name is at most 63 long: its prefix is cut to leave room for the suffix
        prefixes = "|".join(re.escape(prefix[:58]) for prefix in run.prefixes)
        self.generated = re.compile(rf"({prefixes})[a-z0-9]{{5}}\b") if prefixes else None

    def text(self, value):
        if self.generated:
            value = self.generated.sub(r"\1<rand>", value)
        value = value.replace(self.ns, "${ns}").replace(self.address, "<server>")
        value = TIME.sub(lambda match: "<time.6>" if match[2] else "<time>", value)
        value = JWT.sub("<jwt>", value)
        value = re.sub(r'(resourceVersion: ")\d+"', r'\1<n>"', value)
        if re.search(
            r"(?i)too (old|large) resource version|resourceversion in (the )?(precondition|object|record)",
            value,
        ):
            value = re.sub(r"\b\d+\b", "<n>", value)
        return value

    def node(self, node, key=None, floor=None):
        if isinstance(node, list):
            items = [self.node(child, key) for child in node]
            if key == "managedFields":
                items.sort(key=lambda entry: json.dumps(entry, sort_keys=True))
            return items
        if not isinstance(node, dict):
            return self.scalar(node, key)
        if node.get("type") in EVENT_TYPES and set(node) <= {"type", "object"}:
            return {
                "type": node["type"],
                "object": self.node(node.get("object"), floor=node["type"] == "BOOKMARK"),
            }
        if floor is None:
            floor = "items" in node or "rows" in node or str(node.get("kind")).endswith("List")
        result = {}
        for name, child in node.items():
            if name == "metadata" and isinstance(child, dict):
                result[name] = self.metadata(child, floor)
            elif key == "managedFields" and name == "time":
                continue
            else:
                result[self.text(name)] = self.node(child, name)
        return result

    def metadata(self, meta, floor):
        result = self.node(meta, "metadata", False)
        for name, value in meta.items():
            if name == "resourceVersion" and str(value).isdigit() and int(value):
                result[name] = RV(int(value), floor)
            elif name == "continue":
                result[name] = self.continue_token(value)
        return result

    def continue_token(self, token):
        try:
            decoded = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
            decoded["start"] = self.text(decoded["start"])
            if decoded.get("rv", 0) > 0:
                decoded["rv"] = RV(decoded["rv"], True)
            return decoded
        except (ValueError, KeyError, TypeError, AttributeError, binascii.Error):
            return "<other token>" if token else token

    def scalar(self, value, key):
        if not isinstance(value, str):
            return value
        if key == "resourceVersion" and value.isdigit() and int(value):
            return RV(int(value), False)
        if key == "cells" and AGE.fullmatch(value):
            return "<age>"
        if key == "generateName":
            return value.replace(self.ns, "${ns}")
        if key == "serverAddress":
            return "<server>"
        return self.text(value)


class Names:
    """The names <rvN> and <uidN>, and the values they stand for in this run."""

    def __init__(self):
        self.rvs = {}  # rank -> value
        self.uids = {}  # value -> name

    def learn(self, trees):
        """Recording: give every value its name."""
        found = set()

        def visit(node):
            if isinstance(node, RV):
                if not node.floor:
                    found.add(node.value)
            elif isinstance(node, str):
                for uid in UUID.findall(node):
                    self.uids.setdefault(uid, f"<uid{len(self.uids)}>")
            else:
                for _, child in sorted(children(node)):
                    visit(child)

        for tree in trees:
            visit(tree)
        self.rvs = dict(enumerate(sorted(found)))

    def bind(self, expected, actual):
        """Checking: take the recorded names for the values in the same places."""
        if isinstance(actual, RV):
            rank = re.fullmatch(r"<rv(\d+)>", expected) if isinstance(expected, str) else None
            if rank and not actual.floor:
                self.bind_rank(int(rank[1]), actual.value)
        elif isinstance(expected, str) and isinstance(actual, str):
            names, values = UID_NAME.findall(expected), UUID.findall(actual)
            if len(names) == len(values):
                for name, value in zip(names, values):
                    if name not in self.uids.values():
                        self.uids.setdefault(value, name)
        elif isinstance(expected, dict) and isinstance(actual, dict):
            for key in sorted(expected.keys() & actual.keys()):
                self.bind(expected[key], actual[key])
        elif isinstance(expected, list) and isinstance(actual, list):
            for pair in zip(expected, actual):
                self.bind(*pair)

    def bind_rank(self, rank, value):
        """Bind, unless the value would be out of order."""
        if rank not in self.rvs and all(
            (rank < r) == (value < v) and value != v for r, v in self.rvs.items()
        ):
            self.rvs[rank] = value

    def apply(self, node):
        if isinstance(node, RV):
            return self.rv(node)
        if isinstance(node, str):
            return UUID.sub(lambda match: self.uids.get(match[0], "<uid?>"), node)
        if isinstance(node, dict):
            return {key: self.apply(child) for key, child in node.items()}
        return [self.apply(child) for child in node] if isinstance(node, list) else node

    def rv(self, rv):
        before = [rank for rank, value in self.rvs.items() if value <= rv.value]
        last = max(before, default=None)
        if rv.floor:
            return "<rv-before>" if last is None else f"<rv{last}+>"
        if last is not None and self.rvs[last] == rv.value:
            return f"<rv{last}>"
        return f"<rv? after {last}>"


def compared_part(scenario, step, answer, tidy):
    """What of an answer is compared, tidied: {status, headers, body, end}."""
    compare = step.get("compare", {})
    part = {}
    if compare.get("status", True):
        part["status"] = answer.status
    if compare.get("headers"):
        part["headers"] = {
            name: [tidy.text(value) for value in answer.headers.get_all(name, [])]
            if answer.status
            else []
            for name in compare["headers"]
        }
    if compare.get("body", "exact") != "none":
        part["body"] = select(scenario, compare, tidy.node(answer.body))
        if answer.end:
            part["end"] = answer.end
    return part


def select(scenario, compare, body):
    ignore = scenario.get("ignore", []) + compare.get("ignore", [])
    if compare.get("body") == "status-object":
        ignore = ignore + ["message", "details.causes.*.message"]
    body = drop(body, [parse_path(path) for path in ignore])
    if compare.get("only"):
        body = keep(body, [parse_path(path) for path in compare["only"]])
    return mask(
        body, [parse_path(path) for path in scenario.get("mask", []) + compare.get("mask", [])]
    )


def compared_steps(scenario):
    """The steps that have an answer to compare."""
    return [
        step
        for step in scenario["steps"]
        if ("path" in step or "join" in step) and not step.get("background")
    ]


def play(client, scenario, overrides):
    """Play a scenario; {step id: compared part} with RVs and uids unnamed yet."""
    run = Run(client, scenario, overrides)
    answers = run.play()
    tidy = Tidy(run)
    return {
        step["id"]: compared_part(scenario, step, answers[step["id"]], tidy)
        for step in compared_steps(scenario)
    }


# -------------------------------------------------------------------- comparing


def narrow(expected, actual):
    """Leave of actual only what expected speaks of (for "subset")."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        return {key: narrow(expected[key], actual[key]) for key in expected if key in actual}
    if isinstance(expected, list) and isinstance(actual, list):
        if all(isinstance(item, dict) and identity(item) for item in expected) and expected:
            by_name = {identity(item): item for item in actual if isinstance(item, dict)}
            return [
                narrow(item, by_name[identity(item)])
                for item in expected
                if identity(item) in by_name
            ]
        if all(isinstance(item, str) for item in expected):
            return [item for item in expected if item in actual]
        return [narrow(e, a) for e, a in zip(expected, actual)] + actual[len(expected) :]
    return actual


def identity(item):
    """What names an element of a list: a resource, a group, a version, ..."""
    for key in ("resource", "subresource", "name", "groupVersion", "version", "type"):
        if isinstance(item.get(key), str):
            return key, item[key]
    name = item["metadata"].get("name") if isinstance(item.get("metadata"), dict) else None
    return ("metadata.name", name) if name else None


def canonical(value):
    """A form in which 1, 1.0 and true differ, but the order of keys does not."""
    return json.dumps(value, sort_keys=True)


def differences(expected, actual, lines):
    old, new = (
        json.dumps(side, indent=1, sort_keys=True).splitlines() for side in (expected, actual)
    )
    diff = list(difflib.unified_diff(old, new, "expected", "actual", n=2, lineterm=""))
    shown = diff if len(diff) <= lines else diff[:lines] + [f"... {len(diff) - lines} more lines"]
    return "\n".join("        " + line for line in shown)


def kinder_refusal(expected, got):
    """The real server answers some bad input with 500; blaming the request (4xx) is right for another server."""
    return expected.get("status") == 500 and 400 <= got.get("status", 0) < 500


def check_scenario(client, transcript, overrides, verbose):
    """Play a transcript's requests; (passed, failed, report)."""
    report = [f"{transcript['id']}  {transcript['title']}"]
    steps = compared_steps(transcript)
    try:
        actual = play(client, transcript, overrides)
    except (
        Exception
    ) as error:  # a fault of the kit, or an answer nobody thought of: report it, go on
        return (
            0,
            len(steps),
            "\n".join(report + [f"  FAIL  cannot be played: {type(error).__name__}: {error}"]),
        )
    names = Names()
    for step in steps:
        names.bind(step["answer"], actual[step["id"]])
    passed = 0
    for step in steps:
        expected, got = step["answer"], names.apply(actual[step["id"]])
        if step.get("compare", {}).get("body") == "subset" and "body" in got:
            got["body"] = narrow(expected["body"], got["body"])
        if canonical(expected) == canonical(got) or kinder_refusal(expected, got):
            passed += 1
            report.append(f"  ok    {step['id']}")
        else:
            report.append(
                f"  FAIL  {step['id']}  {step.get('method', 'watch')} {step.get('path', step.get('join'))}"
            )
            report.append(differences(expected, got, 2000 if verbose else 30))
    return passed, len(steps) - passed, "\n".join(report)


# ----------------------------------------------------------------- command line


def dump(value, level=0):
    """JSON, indented, but with whatever fits on a line in one line."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + level <= 110 or not isinstance(value, (dict, list)) or not value:
        return flat
    pad = " " * (level + 1)
    if isinstance(value, dict):
        rows = [f"{pad}{json.dumps(key)}: {dump(child, level + 1)}" for key, child in value.items()]
        return "{\n" + ",\n".join(rows) + "\n" + " " * level + "}"
    return (
        "[\n"
        + ",\n".join(pad + dump(child, level + 1) for child in value)
        + "\n"
        + " " * level
        + "]"
    )


def record_scenario(client, scenario, overrides):
    parts = play(client, scenario, overrides)
    names = Names()
    names.learn(parts[step["id"]] for step in compared_steps(scenario))
    steps = [
        dict(step, answer=names.apply(parts[step["id"]])) if step["id"] in parts else step
        for step in scenario["steps"]
    ]
    return dict(scenario, steps=steps)


def record(options):
    client = Client(options.url, options.token)
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)

    def one(path):
        transcript = record_scenario(client, json.loads(path.read_text()), options.vars)
        text = dump(transcript) + "\n"
        (out / path.name).write_text(text)
        unanswered = [s["id"] for s in compared_steps(transcript) if s["answer"].get("status") == 0]
        note = f"  NO ANSWER in {unanswered}" if unanswered else ""
        return f"recorded {path.name}  {len(text)} bytes{note}"

    for line in each(one, options):
        print(line, flush=True)
    return 0


def check(options):
    client = Client(options.url, options.token)
    passed = failed = clean = total = 0

    def one(path):
        transcript = json.loads(path.read_text())
        if options.only and transcript["id"] not in options.only:
            return None
        return check_scenario(client, transcript, options.vars, options.verbose)

    for result in each(one, options):
        if result is None:
            continue
        passed, failed = passed + result[0], failed + result[1]
        total, clean = total + 1, clean + (not result[1])
        print(result[2], flush=True)
    print(f"{clean} of {total} scenarios without a failure")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def each(function, options):
    """Apply function to every file, a few at a time, results in order."""
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        yield from pool.map(function, options.files)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    modes = parser.add_subparsers(dest="mode", required=True)
    for name, function in (("record", record), ("check", check)):
        mode = modes.add_parser(name)
        mode.set_defaults(function=function)
        mode.add_argument("--url", required=True)
        mode.add_argument("--token")
        mode.add_argument(
            "--jobs", type=int, default=4, help="scenarios played at once (default 4)"
        )
        mode.add_argument(
            "--var",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="override a scenario's variable",
        )
        mode.add_argument("files", nargs="+", type=pathlib.Path)
        if name == "record":
            mode.add_argument("--out", required=True)
        else:
            mode.add_argument(
                "--only",
                action="append",
                metavar="ID",
                help="play only this scenario (may be repeated)",
            )
            mode.add_argument("--verbose", action="store_true", help="whole differences")
    options = parser.parse_args()
    options.vars = dict(pair.split("=", 1) for pair in options.var)
    sys.exit(options.function(options))


if __name__ == "__main__":
    main()
