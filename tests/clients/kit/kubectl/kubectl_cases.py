#!/usr/bin/env python3
"""Runs the cases of expected/VERSION.json and compares the normalised output with the recorded."""
import difflib, json, os, re, shutil, subprocess, sys, tempfile, threading, time
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import kit as kitmod
kitmod.LIMIT = float(os.environ.get("CHECK_LIMIT", "62"))
from kit import Kit, rand


def extra(p):
    p.add_argument("--kubectl", default=shutil.which("kubectl"))
    p.add_argument("--expected", help="file to compare with (default expected/<client version>.json, else the nearest older)")
    p.add_argument("--only", default="")
    p.add_argument("--shard", help="I/N: every Nth case, from the Ith")
    p.add_argument("--jobs", type=int, default=3)
    p.add_argument("--verbose", action="store_true", help="print the differences")


k = Kit("kubectl", extra)
a = k.args
a.kubectl = os.path.abspath(a.kubectl)
ver = json.loads(subprocess.run([a.kubectl, "version", "--client", "-o", "json"], capture_output=True, text=True, env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"}).stdout)["clientVersion"]["gitVersion"]
minor = re.match(r"v?(\d+\.\d+)", ver).group(1)
tmp = tempfile.mkdtemp(prefix="kc")
k.on_exit(lambda: shutil.rmtree(tmp, ignore_errors=True))
os.makedirs(tmp + "/bin")
with open(tmp + "/bin/kubectl", "w") as f:
    f.write('#!/bin/bash\nexec "%s" --cache-dir=%s/cache "$@"\n' % (a.kubectl, tmp))
os.chmod(tmp + "/bin/kubectl", 0o755)


def expected_file():
    if a.expected:
        return a.expected
    d = os.path.join(HERE, "expected")
    have = sorted((tuple(map(int, f[:-5].split("."))), f) for f in os.listdir(d) if f.endswith(".json"))
    mine = tuple(map(int, minor.split(".")))
    best = [f for v, f in have if v <= mine] or [have[0][1]]
    return os.path.join(d, best[-1])


def normal(s, ns, id, dir):
    s = s.replace(dir, "DIR").replace(tmp, "TMP").replace(ns, "NAMESPACE").replace(k.url, "SERVER")
    s = re.sub(r"\b" + id, "IDENT", s)
    s = re.sub(r"%s" % id, "IDENT", s)
    s = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID", s)
    s = re.sub(r'(resourceVersion["\\]*: *["\\]*)\d+', r"\1RV", s)
    s = re.sub(r"(?i)(resource version[^0-9\n]{0,12})\d+", r"\1RV", s)
    s = re.sub(r'("continue": *|"continue":|continue: )"?[A-Za-z0-9_\-=]{20,}"?', r"\1CONTINUE", s)
    s = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)", "TIME", s)
    s = re.sub(r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "TIME", s)
    s = re.sub(r"\b[EIW]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ", "LOG ", s)
    s = re.sub(r"\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b", "ADDRESS", s)
    s = re.sub(r"\b3[0-2]\d{3}\b", "NODEPORT", s)
    # Where in a pod a difference stands depends on what admission had put into it.
    s = re.sub(r"@@ -\d+,(\d+) \+\d+,(\d+) @@", r"@@ -LINE,\1 +LINE,\2 @@", s)
    s = re.sub(r"(LIVE|MERGED)-\d+", r"\1-N", s)
    s = re.sub(r"/tmp/(LIVE|MERGED|kubectl)", r"TMP/\1", s)
    s = re.sub(r"kubectl-edit-\d+", "kubectl-edit-N", s)
    s = re.sub(r"(?<![\w.])(\d+)(ms|s|m|h|d|y)(\d+(s|m|h|d|y))?\b", "AGE", s)
    s = re.sub(r"<invalid>", "AGE", s)
    s = re.sub(r"kube-api-access-[a-z0-9]{5}", "kube-api-access-HASH", s)
    s = re.sub(r"\b[a-z0-9]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}\b", "HASH", s)
    out = []
    for line in s.split("\n"):
        if line.startswith("LOG ") and "Failed to watch" in line and "context deadline exceeded" in line:
            continue    # the client's own race when its time is up
        ind = re.match(r" *", line).group(0)
        out.append((ind + re.sub(r"[ \t]{2,}|\t", "  ", line[len(ind):])).rstrip())
    return "\n".join(out).strip("\n")


def run_case(c):
    id, d = rand(), tempfile.mkdtemp(dir=tmp)
    ns = k.make_ns("kc-" + id)
    for name, text in c["files"].items():
        with open(os.path.join(d, name), "w") as f:
            f.write(text.replace("$NS", ns).replace("$ID", id))
    kc = k.kubeconfig(ns)
    env = {"PATH": tmp + "/bin:/usr/local/bin:/usr/bin:/bin", "HOME": d, "KUBECONFIG": kc, "NS": ns, "ID": id, "LANG": "C", "TZ": "UTC", "TMPDIR": d,
           **{v: os.environ[v] for v in os.environ if v.startswith("KUBE_FEATURE_")}}
    res = []
    for cmd in c["commands"]:
        cmd = cmd.replace("$NS", ns).replace("$ID", id)
        try:
            p = subprocess.run(["bash", "-c", cmd], cwd=d, env=env, capture_output=True, text=True, errors="replace", timeout=25, stdin=subprocess.DEVNULL)
            res.append({"rc": p.returncode, "stdout": normal(p.stdout, ns, id, d), "stderr": normal(p.stderr, ns, id, d)})
        except subprocess.TimeoutExpired:
            res.append({"rc": "timeout", "stdout": "", "stderr": ""})
    k.http("DELETE", "/api/v1/namespaces/" + ns, {})
    os.unlink(kc)
    return res


def probe():
    """Which controllers run behind the server?"""
    ns = k.make_ns("kc-probe-" + k.id)
    base = "/api/v1/namespaces/" + ns
    k.http("POST", "/apis/apps/v1/namespaces/%s/deployments" % ns, {"metadata": {"name": "d"}, "spec": {"paused": True, "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "m", "image": "registry.test/app:1"}]}}}})
    uid = k.http("POST", base + "/configmaps", {"metadata": {"name": "owner"}})[1]["metadata"]["uid"]
    k.http("POST", base + "/configmaps", {"metadata": {"name": "child", "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid}]}})
    time.sleep(0.3)
    k.http("DELETE", base + "/configmaps/owner", {"propagationPolicy": "Background"})
    have = {"https": k.url.startswith("https")}
    have["no-deployments"] = not k.until(lambda: k.http("GET", "/apis/apps/v1/namespaces/%s/deployments/d" % ns)[1].get("status", {}).get("observedGeneration"), 1.5)
    have["collector"] = bool(k.until(lambda: k.http("GET", base + "/configmaps/child")[0] == 404, 3))
    k.http("DELETE", base, {})
    have["namespaces"] = bool(k.until(lambda: k.http("GET", base)[0] == 404, 8))
    return have


def main():
    path = expected_file()
    cases = json.load(open(path))
    print("# kubectl %s against %s, expected from %s" % (ver, k.url, os.path.basename(path)))
    todo = [c for c in cases if not a.only or c["id"] in a.only.split(",")]
    if a.shard:
        i, n = map(int, a.shard.split("/"))
        todo = todo[i - 1::n]
    have = probe() if any(c.get("needs") for c in todo) else {}
    skip = [c["id"] for c in todo if not have.get(c.get("needs"), True)]
    todo = [c for c in todo if c["id"] not in skip]
    if skip:
        print("# not run here: " + ", ".join(skip) + " (server has: " + ", ".join(x for x in have if have[x]) + ")")
    # the slow ones first
    todo.sort(key=lambda c: -sum(s.count("sleep") + s.count("timeout") for s in c["commands"]))
    lock, it = threading.Lock(), iter(todo)

    def work():
        while True:
            with lock:
                c = next(it, None)
            if c is None:
                return
            try:
                r = run_case(c)
            except Exception as e:
                r = [{"rc": repr(e), "stdout": "", "stderr": ""}]
            judge(c, r)

    def judge(c, r):
        best, text = None, ""
        for variant, want in c["expected"].items():
            diffs = []
            for i, cmd in enumerate(c["commands"]):
                w, g = want[i], r[i] if i < len(r) else {"rc": "none", "stdout": "", "stderr": ""}
                for key in ("rc", "stdout", "stderr"):
                    if w[key] != g[key]:
                        diffs.append("[%d] %s: %s\n" % (i, cmd[:160], key) + "\n".join(difflib.unified_diff(str(w[key]).split("\n"), str(g[key]).split("\n"), "expected", "got", lineterm="", n=1)))
            if best is None or len(diffs) < best:
                best, text = len(diffs), "\n".join(diffs)
            if not diffs:
                break
        with lock:
            k.ok(c["id"], best == 0, ("%d of %d commands differ; first: " % (best, len(c["commands"])) if best else "") + text[:500])
            if best and a.verbose:
                print(text)

    ts = [threading.Thread(target=work, daemon=True) for _ in range(a.jobs)]
    for t in ts:
        t.start()
    for t in ts:
        t.join()
    k.finish()


main()
