"""What a page shows, as commands and programs that would see the same: for terminal and editor.

Each is whole: it runs as it stands, with the kubeconfig or the token of the server's folder.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlencode

from dashboard.commands import kubectl_name

if TYPE_CHECKING:
    from listwatch.protocol.kinds import Resource

_HEADER = '"Authorization: Bearer $(listwatch token)"'


class Copy(NamedTuple):
    """One way to see the same: `name` is what the menu calls it."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """One request of the API.

    `verb` is get, list or watch. A watch begins with the state (`since` is ''), or goes on from a
    revision.
    """

    verb: str
    resource: Resource
    namespace: str = ""
    name: str = ""
    labels: str = ""
    fields: str = ""
    since: str = ""


def copies(call: Call, origin: str) -> list[Copy]:
    """All of them; `origin` is where the server answers, as `http://127.0.0.1:8000`."""
    return [
        Copy("kubectl", kubectl(call)),
        Copy("curl", curl(call, origin)),
        Copy("client-go", client_go(call)),
        Copy("Python", python(call)),
    ]


def kubectl(call: Call) -> str:
    """The command of kubectl; a watch from a revision is its raw request."""
    if call.verb == "watch" and call.since:
        return shlex.join(["kubectl", "get", "--raw", _path(call)])
    words = ["kubectl", "get", kubectl_name(call.resource)]
    words += [call.name] if call.verb == "get" else []
    if call.resource.namespaced:
        words += ["-n", call.namespace] if call.namespace else ["-A"]
    words += ["-l", call.labels] if call.labels else []
    words += ["--field-selector", call.fields] if call.fields else []
    words += {"get": ["-o", "yaml"], "watch": ["-w", "--output-watch-events"]}.get(call.verb, [])
    return shlex.join(words)


def curl(call: Call, origin: str) -> str:
    """The request itself, with the admin's token."""
    options = "-sN" if call.verb == "watch" else "-s"
    return f"curl {options} -H {_HEADER} {shlex.quote(origin + _path(call))}"


def _path(call: Call) -> str:
    resource = call.resource
    parts = ["/apis", resource.group] if resource.group else ["/api"]
    parts += [resource.version]
    parts += ["namespaces", quote(call.namespace)] if call.namespace else []
    parts += [resource.resource]
    parts += [quote(call.name, safe=":")] if call.verb == "get" else []
    query = {"labelSelector": call.labels, "fieldSelector": call.fields}
    if call.verb == "watch":
        query |= {"watch": "true", "allowWatchBookmarks": "true", "resourceVersion": call.since}
        if not call.since:
            query |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
    given = urlencode({name: value for name, value in query.items() if value})
    return "/".join(parts) + (f"?{given}" if given else "")


def client_go(call: Call) -> str:
    """A program with client-go's dynamic client."""
    resource = call.resource
    place = f".Namespace({_go(call.namespace)})" if call.namespace else ""
    options = [
        f"{name}: {_go(value)}"
        for name, value in (
            ("LabelSelector", call.labels),
            ("FieldSelector", call.fields),
            ("ResourceVersion", call.since if call.verb == "watch" else ""),
        )
        if value
    ]
    body = {
        "get": _GO_GET.format(place=place, name=_go(call.name)),
        "list": _GO_LIST.format(place=place, options=", ".join(options)),
        "watch": _GO_WATCH.format(place=place, options=", ".join(options)),
    }[call.verb]
    return _GO.format(
        group=_go(resource.group), version=_go(resource.version), resource=_go(resource.resource),
        body=body,
    )  # fmt: skip


def _go(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def python(call: Call) -> str:
    """A program with the official client's dynamic part."""
    arguments = [
        f"{name}={value!r}"
        for name, value in (
            ("namespace", call.namespace),
            ("name", call.name if call.verb == "get" else ""),
            ("label_selector", call.labels),
            ("field_selector", call.fields),
            ("resource_version", call.since if call.verb == "watch" else ""),
        )
        if value
    ]
    body = {
        "get": "print(api.get({}))",
        "list": "for item in api.get({}).items:\n    print(item.metadata.name)",
        "watch": "for event in api.watch({}):\n"
        '    print(event["type"], event["object"].metadata.name)',
    }[call.verb].format(", ".join(arguments))
    return _PYTHON.format(api_version=call.resource.api_version, kind=call.resource.kind, body=body)


_PYTHON = """\
from kubernetes import client, config, dynamic

config.load_kube_config()
resources = dynamic.DynamicClient(client.ApiClient()).resources
api = resources.get(api_version="{api_version}", kind="{kind}")
{body}
"""
_GO_GET = """\
	object, err := resource{place}.Get(ctx, {name}, metav1.GetOptions{{}})
	if err != nil {{
		panic(err)
	}}
	fmt.Println(object.GetName(), object.GetResourceVersion())"""
_GO_LIST = """\
	list, err := resource{place}.List(ctx, metav1.ListOptions{{{options}}})
	if err != nil {{
		panic(err)
	}}
	for _, item := range list.Items {{
		fmt.Println(item.GetName())
	}}"""
_GO_WATCH = """\
	watcher, err := resource{place}.Watch(ctx, metav1.ListOptions{{{options}}})
	if err != nil {{
		panic(err)
	}}
	for event := range watcher.ResultChan() {{
		fmt.Println(event.Type, event.Object.(metav1.Object).GetName())
	}}"""
_GO = """\
package main

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {{
	ctx := context.Background()
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {{
		panic(err)
	}}
	resource := dynamic.NewForConfigOrDie(config).Resource(schema.GroupVersionResource{{
		Group: {group}, Version: {version}, Resource: {resource},
	}})
{body}
}}
"""
