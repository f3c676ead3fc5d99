"""Official Python client: leader election on a Lease and on a ConfigMap."""
import logging, threading, time
import urllib3
from kit import Kit
from kubernetes import client
from kubernetes.client.rest import ApiException
from kubernetes.leaderelection import leaderelection, electionconfig
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock
from kubernetes.leaderelection.resourcelock.configmaplock import ConfigMapLock

urllib3.disable_warnings()
logging.disable(logging.CRITICAL)
k = Kit("py-leader")
cfg = client.Configuration()
cfg.host, cfg.verify_ssl = k.url, False
cfg.api_key = {"authorization": "Bearer " + k.token}
client.Configuration.set_default(cfg)
ns = k.make_ns()
coord = client.CoordinationV1Api()


class Stuck:
    """A lock whose holder can be made to stop renewing."""

    def __init__(self, lock):
        self.lock, self.dead = lock, False
        self.name, self.namespace, self.identity = lock.name, lock.namespace, lock.identity

    def get(self, *a, **kw):
        return self.lock.get(*a, **kw)

    def create(self, *a, **kw):
        return False if self.dead else self.lock.create(*a, **kw)

    def update(self, *a, **kw):
        return False if self.dead else self.lock.update(*a, **kw)


for kind, cls in (("lease", LeaseLock), ("configmap", ConfigMapLock)):
    with k.step(kind):
        log = []
        locks = {}

        def candidate(who, log=log, locks=locks):  # one of the last round may stop in this one
            locks[who] = Stuck(cls("elect-" + kind, ns, who))
            c = electionconfig.Config(locks[who], lease_duration=4, renew_deadline=3, retry_period=1,
                                      onstarted_leading=lambda: log.append("start " + who), onstopped_leading=lambda: log.append("stop " + who))
            threading.Thread(target=leaderelection.LeaderElection(c).run, daemon=True).start()

        candidate("a")
        k.ok(kind + " first candidate leads", k.until(lambda: "start a" in log, 6), log)
        candidate("b")
        time.sleep(2.5)
        k.eq(kind + " only one leads", log, ["start a"])
        if kind == "lease":
            le = coord.read_namespaced_lease("elect-lease", ns)
            k.ok("lease spec", le.spec.holder_identity == "a" and le.spec.lease_duration_seconds == 4 and le.spec.renew_time and le.spec.renew_time > le.spec.acquire_time, le.spec)
            rv1 = le.metadata.resource_version
            k.ok("lease is renewed", k.until(lambda: coord.read_namespaced_lease("elect-lease", ns).metadata.resource_version != rv1, 4))
            old = coord.read_namespaced_lease("elect-lease", ns)
            old.metadata.resource_version = rv1
            try:
                coord.replace_namespaced_lease("elect-lease", ns, old)
                k.ok("stale lease update", False, "no error")
            except ApiException as e:
                k.ok("stale lease update", e.status == 409, e)
        locks["a"].dead = True
        k.ok(kind + " the other takes over", k.until(lambda: "start b" in log, 12), log)
        k.ok(kind + " the first stops before", "stop a" in log and log.index("stop a") < log.index("start b"), log)
        if kind == "lease":
            k.eq("lease holder after", coord.read_namespaced_lease("elect-lease", ns).spec.holder_identity, "b")
        locks["b"].dead = True
k.finish()
