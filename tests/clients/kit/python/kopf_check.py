"""kopf: an operator follows a custom kind, keeps its finalizer and writes its status."""
import asyncio, threading
import kopf
from kit import Kit
from kubernetes import client
import urllib3

urllib3.disable_warnings()
k = Kit("kopf")
cfg = client.Configuration()
cfg.host, cfg.verify_ssl = k.url, False
cfg.api_key = {"authorization": "Bearer " + k.token}
client.Configuration.set_default(cfg)
ns = k.make_ns()
group, plural = k.id + ".kopf.test", "toys"
k.http("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": plural + "." + group},
    "spec": {"group": group, "scope": "Namespaced", "names": {"plural": plural, "singular": "toy", "kind": "Toy", "listKind": "ToyList"},
             "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
                           "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}})
k.on_exit(lambda: k.http("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/%s.%s" % (plural, group)))
api, log = client.CustomObjectsApi(), []
registry = kopf.OperatorRegistry()


@kopf.on.startup(registry=registry)
def quiet(settings, **_):
    settings.posting.enabled = False
    settings.scanning.disabled = True
    settings.networking.request_timeout = 20


@kopf.on.login(registry=registry)
def login(**_):
    return kopf.ConnectionInfo(server=k.url, token=k.token, insecure=True)


@kopf.on.create(group, "v1", plural, registry=registry)
def created(name, spec, patch, **_):
    log.append(("created", name, spec["size"]))
    patch.status["phase"] = "Made"


@kopf.on.update(group, "v1", plural, field="spec.size", registry=registry)
def resized(name, old, new, **_):
    log.append(("resized", name, old, new))


@kopf.on.delete(group, "v1", plural, registry=registry)
def deleted(name, **_):
    log.append(("deleted", name))


stop, ready = threading.Event(), threading.Event()
thread = threading.Thread(target=lambda: asyncio.run(kopf.operator(registry=registry, namespaces=[ns], standalone=True, stop_flag=stop, ready_flag=ready)), daemon=True)
with k.step("operator"):
    k.until(lambda: k.http("GET", "/apis/%s/v1" % group)[0] == 200, 10)
    thread.start()
    k.ok("starts", ready.wait(15))
    read = lambda: api.get_namespaced_custom_object(group, "v1", ns, plural, "a")
    api.create_namespaced_custom_object(group, "v1", ns, plural, {"apiVersion": group + "/v1", "kind": "Toy", "metadata": {"name": "a"}, "spec": {"size": 1}})
    k.ok("hears of a new object", k.until(lambda: ("created", "a", 1) in log), log)
    k.ok("writes its status", k.until(lambda: read()["status"]["phase"] == "Made"), log)
    k.ok("keeps its finalizer", k.until(lambda: read()["metadata"]["finalizers"]), log)
    api.patch_namespaced_custom_object(group, "v1", ns, plural, "a", {"spec": {"size": 2}})
    k.ok("hears of a change", k.until(lambda: ("resized", "a", 1, 2) in log), log)
    api.delete_namespaced_custom_object(group, "v1", ns, plural, "a")
    k.ok("hears of the end", k.until(lambda: ("deleted", "a") in log), log)
    k.ok("lets the object go", k.until(lambda: k.http("GET", "/apis/%s/v1/namespaces/%s/%s/a" % (group, ns, plural))[0] == 404), log)
    k.eq("hears nothing else", len(log), 3)
    stop.set()
    thread.join(10)
    k.ok("ends", not thread.is_alive())
k.finish()
