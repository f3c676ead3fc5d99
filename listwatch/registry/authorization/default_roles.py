"""The roles and bindings that every cluster has, as data: upstream's names, and what they grant.

A grant is written `verbs group: resources`; `bootstrap` makes objects of them. Roles of parts that
listwatch does not have (volume controllers, cloud providers) are left out.
"""

from __future__ import annotations

READ = "get,list,watch"
CHANGE = "create,delete,deletecollection,patch,update"
ALL = "create,delete,deletecollection,get,list,patch,update,watch"
EVENTS = ("create,patch,update /events", "create,patch,update events.k8s.io/events")

_TO = "rbac.authorization.k8s.io/aggregate-to-"
_HEALTH = ("/healthz", "/livez", "/readyz", "/version", "/version/")
_DISCOVERY = ("/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*")

# Roles made of whichever carry a label, and the label that they carry themselves.
AGGREGATED: dict[str, tuple[str, str]] = {
    "admin": (f"{_TO}admin", ""),
    "edit": (f"{_TO}edit", f"{_TO}admin"),
    "view": (f"{_TO}view", f"{_TO}edit"),
}
LABELS = {
    "system:aggregate-to-admin": f"{_TO}admin",
    "system:aggregate-to-edit": f"{_TO}edit",
    "system:aggregate-to-view": f"{_TO}view",
}

URLS: dict[str, tuple[str, ...]] = {
    "system:discovery": (*_HEALTH, *_DISCOVERY),
    "system:public-info-viewer": _HEALTH,
    "system:monitoring": (
        "/healthz", "/healthz/*", "/livez", "/livez/*", "/metrics", "/metrics/slis", "/readyz",
        "/readyz/*",
    ),
    "system:service-account-issuer-discovery": (
        "/.well-known/openid-configuration", "/.well-known/openid-configuration/",
        "/openid/v1/jwks", "/openid/v1/jwks/",
    ),
}  # fmt: skip

_WORKLOADS = (
    "daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale "
    "statefulsets statefulsets/scale"
)
_SEEN_WORKLOADS = (
    "daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets "
    "replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status"
)

CLUSTER_ROLES: dict[str, tuple[str, ...]] = {
    "system:aggregate-to-admin": (
        "create authorization.k8s.io/localsubjectaccessreviews",
        f"{ALL} rbac.authorization.k8s.io/rolebindings roles",
    ),
    "system:aggregate-to-edit": (
        f"{READ} /pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy",
        "impersonate /serviceaccounts",
        f"{CHANGE} /pods pods/attach pods/exec pods/portforward pods/proxy",
        "create /pods/eviction",
        (
            f"{CHANGE} /configmaps events persistentvolumeclaims replicationcontrollers "
            "replicationcontrollers/scale secrets serviceaccounts services services/proxy"
        ),
        "create /serviceaccounts/token",
        f"{CHANGE} apps/{_WORKLOADS}",
        f"{CHANGE} autoscaling/horizontalpodautoscalers",
        f"{CHANGE} batch/cronjobs jobs",
        f"{CHANGE} policy/poddisruptionbudgets",
        f"{CHANGE} networking.k8s.io/ingresses networkpolicies",
        f"{ALL} coordination.k8s.io/leases",
    ),
    "system:aggregate-to-view": (
        (
            f"{READ} /configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status "
            "pods replicationcontrollers replicationcontrollers/scale serviceaccounts services "
            "services/status"
        ),
        (
            f"{READ} /bindings events limitranges namespaces/status pods/log pods/status "
            "replicationcontrollers/status resourcequotas resourcequotas/status"
        ),
        f"{READ} /namespaces",
        f"{READ} discovery.k8s.io/endpointslices",
        f"{READ} apps/controllerrevisions {_SEEN_WORKLOADS}",
        f"{READ} autoscaling/horizontalpodautoscalers horizontalpodautoscalers/status",
        f"{READ} batch/cronjobs cronjobs/status jobs jobs/status",
        f"{READ} policy/poddisruptionbudgets poddisruptionbudgets/status",
        f"{READ} networking.k8s.io/ingresses ingresses/status networkpolicies",
    ),
    "system:auth-delegator": (
        "create authentication.k8s.io/tokenreviews",
        "create authorization.k8s.io/subjectaccessreviews",
    ),
    "system:basic-user": (
        "create authorization.k8s.io/selfsubjectaccessreviews selfsubjectrulesreviews",
        "create authentication.k8s.io/selfsubjectreviews",
    ),
    "system:kube-aggregator": (f"{READ} /endpoints services",),
    "system:kube-controller-manager": (
        *EVENTS,
        "create coordination.k8s.io/leases",
        "get,update coordination.k8s.io/leases =kube-controller-manager",
        "create /secrets serviceaccounts",
        "delete /secrets",
        "get /configmaps namespaces secrets serviceaccounts",
        "update /secrets serviceaccounts",
        "create authentication.k8s.io/tokenreviews",
        "create authorization.k8s.io/subjectaccessreviews",
        "list,watch */*",
        "create /serviceaccounts/token",
    ),
    "system:kube-dns": ("list,watch /endpoints services", "get /nodes"),
    "system:kube-scheduler": (
        *EVENTS,
        "create coordination.k8s.io/leases",
        "get,list,update,watch coordination.k8s.io/leases =kube-scheduler",
        f"{READ} /nodes namespaces",
        "delete,get,list,watch /pods",
        "create /bindings pods/binding",
        "patch,update /pods/status",
        f"{READ} /replicationcontrollers services persistentvolumeclaims persistentvolumes",
        f"{READ} apps/replicasets statefulsets",
        f"{READ} policy/poddisruptionbudgets",
        "create authentication.k8s.io/tokenreviews",
        "create authorization.k8s.io/subjectaccessreviews",
        f"{READ} storage.k8s.io/csinodes csidrivers csistoragecapacities storageclasses",
    ),
    "system:kubelet-api-admin": (
        f"{READ} /nodes",
        "proxy /nodes",
        "* /nodes/log nodes/metrics nodes/proxy nodes/stats",
    ),
    "system:node": (
        "create authentication.k8s.io/tokenreviews",
        "create authorization.k8s.io/localsubjectaccessreviews subjectaccessreviews",
        f"{READ} /services",
        "create,get,list,watch /nodes",
        "patch,update /nodes nodes/status",
        "create,patch,update /events",
        "create,delete,get,list,watch /pods",
        "patch,update /pods/status",
        "create /pods/eviction",
        f"{READ} /configmaps secrets",
        "get /persistentvolumeclaims persistentvolumes endpoints",
        "create,get,list,watch certificates.k8s.io/certificatesigningrequests",
        "create,delete,get,patch,update coordination.k8s.io/leases",
        "get storage.k8s.io/volumeattachments",
        "create /serviceaccounts/token",
        "get,patch,update /persistentvolumeclaims/status",
        f"{READ} storage.k8s.io/csidrivers",
        "create,delete,get,patch,update storage.k8s.io/csinodes",
        f"{READ} node.k8s.io/runtimeclasses",
    ),
    "system:node-proxier": (
        "list,watch /services",
        f"{READ} /nodes",
        *EVENTS,
        "list,watch discovery.k8s.io/endpointslices",
    ),
    "system:controller:clusterrole-aggregation-controller": (
        "escalate,get,list,patch,update,watch rbac.authorization.k8s.io/clusterroles",
    ),
    "system:controller:deployment-controller": (
        "get,list,update,watch apps/deployments",
        "update apps/deployments/status deployments/finalizers",
        "create,delete,get,list,patch,update,watch apps/replicasets",
        "get,list,update,watch /pods",
        *EVENTS,
    ),
    "system:controller:replicaset-controller": (
        "get,list,update,watch apps/replicasets",
        "update apps/replicasets/status replicasets/finalizers",
        "create,delete,list,patch,watch /pods",
        *EVENTS,
    ),
    "system:controller:endpoint-controller": (
        f"{READ} /pods services",
        "create,delete,get,list,update /endpoints",
        "create /endpoints/restricted",
        *EVENTS,
    ),
    "system:controller:endpointslice-controller": (
        f"{READ} /nodes pods services",
        "update /services/finalizers",
        "create,delete,get,list,update discovery.k8s.io/endpointslices",
        *EVENTS,
    ),
    "system:controller:generic-garbage-collector": (
        "delete,get,list,patch,update,watch */*",
        *EVENTS,
    ),
    "system:controller:namespace-controller": (
        "delete,get,list,watch /namespaces",
        "update /namespaces/finalize namespaces/status",
        "delete,deletecollection,get,list */*",
    ),
    "system:controller:node-controller": (
        "delete,get,list,patch,update,watch /nodes",
        "patch,update /nodes/status",
        "patch,update /pods/status",
        "delete,get,list,watch /pods",
        *EVENTS,
    ),
    "system:controller:resourcequota-controller": (
        "list,watch */*",
        "update /resourcequotas/status",
        *EVENTS,
    ),
    "system:controller:service-account-controller": ("create /serviceaccounts", *EVENTS),
    "system:controller:root-ca-cert-publisher": ("create,update /configmaps", *EVENTS),
}

_EVERYBODY = ("Group/system:authenticated", "Group/system:unauthenticated")
# Cluster role bindings have the name of the role they bind; of those that follow, that is all.
CLUSTER_ROLE_BINDINGS: dict[str, tuple[str, ...]] = {
    "cluster-admin": ("Group/system:masters",),
    "system:basic-user": ("Group/system:authenticated",),
    "system:discovery": ("Group/system:authenticated",),
    "system:public-info-viewer": _EVERYBODY,
    "system:monitoring": ("Group/system:monitoring",),
    "system:service-account-issuer-discovery": ("Group/system:serviceaccounts",),
    "system:kube-controller-manager": ("User/system:kube-controller-manager",),
    "system:kube-dns": ("ServiceAccount/kube-dns",),
    "system:kube-scheduler": ("User/system:kube-scheduler",),
    "system:node": (),
    "system:node-proxier": ("User/system:kube-proxy",),
    **{
        name: (f"ServiceAccount/{name.removeprefix('system:controller:')}",)
        for name in CLUSTER_ROLES
        if name.startswith("system:controller:")
    },
}

# By namespace and name; bound to the subjects that stand beside them.
ROLES: dict[tuple[str, str], tuple[str, ...]] = {
    ("kube-system", "extension-apiserver-authentication-reader"): (
        f"{READ} /configmaps =extension-apiserver-authentication",
    ),
    ("kube-system", "system:leader-locking-kube-controller-manager"): (
        "watch /configmaps",
        "get,update /configmaps =kube-controller-manager",
    ),
    ("kube-system", "system:leader-locking-kube-scheduler"): (
        "watch /configmaps",
        "get,update /configmaps =kube-scheduler",
    ),
    ("kube-public", "system:controller:bootstrap-signer"): (
        f"{READ} /configmaps",
        "update /configmaps =cluster-info",
        *EVENTS,
    ),
}
ROLE_BINDINGS: dict[tuple[str, str], tuple[str, ...]] = {
    ("kube-system", "system:leader-locking-kube-controller-manager"): (
        "User/system:kube-controller-manager",
        "ServiceAccount/kube-controller-manager",
    ),
    ("kube-system", "system:leader-locking-kube-scheduler"): (
        "User/system:kube-scheduler",
        "ServiceAccount/kube-scheduler",
    ),
    ("kube-public", "system:controller:bootstrap-signer"): ("ServiceAccount/bootstrap-signer",),
}
