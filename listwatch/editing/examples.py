"""The least of each kind outside the core and apps groups that is worth having.

Read by `skeletons`, which has the others.
"""

from __future__ import annotations

from listwatch.protocol.objects import JSONObject

_LABELS = {"app": "example"}
_JOB = {
    "template": {
        "spec": {
            "restartPolicy": "Never",
            "containers": [{"name": "main", "image": "registry.example/task:1"}],
        }
    }
}
_ROLE = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
_SUBJECTS = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "example"}]
_RULES = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]
_STORAGE = {"storage": "1Gi"}
_WATCHED = {
    "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"],
}  # fmt: skip
_WEBHOOKS = [
    {
        "name": "example.hooks.test",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Ignore",
        "rules": [_WATCHED],
        "clientConfig": {"service": {"namespace": "default", "name": "example", "path": "/"}},
    }
]
_CONSTRAINTS = {"resourceRules": [_WATCHED]}
_MUTATION = 'Object{metadata: Object.metadata{labels: {"app": "example"}}}'

EXAMPLES: dict[str, JSONObject] = {
    "APIService": {
        "spec": {
            "group": "example.test",
            "version": "v1",
            "groupPriorityMinimum": 1000,
            "versionPriority": 15,
            "insecureSkipTLSVerify": True,
            "service": {"namespace": "default", "name": "example"},
        },
    },
    "CustomResourceDefinition": {
        "spec": {
            "group": "example.test",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {"spec": {"type": "object"}},
                        }
                    },
                }
            ],
        },
    },
    "CSIStorageCapacity": {"storageClassName": "example", "capacity": "1Gi"},
    "CertificateSigningRequest": {
        "spec": {
            "signerName": "example.test/signer",
            "usages": ["client auth"],
            # What `openssl req -new -newkey ed25519 -subj /CN=example` makes.
            "request": (
                "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlHUk1FVUNBUUF3RWpFUU1BNEdBMVVF"
                "QXd3SFpYaGhiWEJzWlRBcU1BVUdBeXRsY0FNaEFLcHFJSndSVDNmQwppT1g4ajA5NHBVYXBXUFJVbmZI"
                "NmN5ckU4cXZjd2gzL29BQXdCUVlESzJWd0EwRUFEMk15R3cwY0VLZDlDRWp2CmNBNWE1dzBqdHpNVnVh"
                "eVJsQm1WTmh3d3VmWERZTUs0N0liMlFaM0c3WHNqUG0zUjBZQkMvVDRHMm1LS2tTZHEKV0xLL0R3PT0K"
                "LS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg=="
            ),
        }
    },
    "ClusterRole": {"rules": _RULES},
    "ClusterRoleBinding": {"roleRef": _ROLE, "subjects": _SUBJECTS},
    "ControllerRevision": {"revision": 1, "data": {"spec": {}}},
    "CronJob": {"spec": {"schedule": "*/5 * * * *", "jobTemplate": {"spec": _JOB}}},
    "FlowSchema": {
        "spec": {
            "priorityLevelConfiguration": {"name": "global-default"},
            "rules": [
                {
                    "subjects": [{"kind": "Group", "group": {"name": "example"}}],
                    "resourceRules": [
                        {
                            "apiGroups": [""], "resources": ["pods"], "verbs": ["list"],
                            "namespaces": ["*"],
                        }
                    ],
                }
            ],
        }
    },
    "HorizontalPodAutoscaler": {
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "example"},
            "minReplicas": 1,
            "maxReplicas": 3,
        }
    },
    "IPAddress": {
        "spec": {"parentRef": {"resource": "services", "namespace": "default", "name": "example"}}
    },
    "Ingress": {
        "spec": {
            "rules": [
                {
                    "host": "example.test",
                    "http": {
                        "paths": [
                            {
                                "path": "/",
                                "pathType": "Prefix",
                                "backend": {
                                    "service": {"name": "example", "port": {"number": 80}}
                                },
                            }
                        ]
                    },
                }
            ]
        }
    },
    "IngressClass": {"spec": {"controller": "example.test/controller"}},
    "Job": {"spec": _JOB},
    "LimitRange": {
        "spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}, "default": {"cpu": "1"}}]}
    },
    "MutatingAdmissionPolicy": {
        "spec": {
            "matchConstraints": _CONSTRAINTS,
            "reinvocationPolicy": "Never",
            "mutations": [
                {
                    "patchType": "ApplyConfiguration",
                    "applyConfiguration": {"expression": _MUTATION},
                }
            ],
        }
    },
    "MutatingAdmissionPolicyBinding": {"spec": {"policyName": "example"}},
    "MutatingWebhookConfiguration": {"webhooks": _WEBHOOKS},
    "NetworkPolicy": {
        "spec": {"podSelector": {"matchLabels": _LABELS}, "policyTypes": ["Ingress"]}
    },
    "PersistentVolume": {
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": _STORAGE,
            "hostPath": {"path": "/data/example"},
        }
    },
    "PersistentVolumeClaim": {
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": _STORAGE}}
    },
    "PodDisruptionBudget": {"spec": {"minAvailable": 1, "selector": {"matchLabels": _LABELS}}},
    "PriorityClass": {"value": 1000},
    "PriorityLevelConfiguration": {
        "spec": {
            "type": "Limited",
            "limited": {"limitResponse": {"type": "Reject"}, "nominalConcurrencyShares": 10},
        }
    },
    "ResourceClaim": {
        "spec": {
            "devices": {"requests": [{"name": "one", "exactly": {"deviceClassName": "example"}}]}
        }
    },
    "ResourceQuota": {"spec": {"hard": {"pods": "10"}}},
    "ResourceSlice": {
        "spec": {
            "driver": "example.test",
            "nodeName": "node-1",
            "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": 1},
        }
    },
    "Role": {"rules": _RULES},
    "RoleBinding": {"roleRef": _ROLE, "subjects": _SUBJECTS},
    "RuntimeClass": {"handler": "example"},
    "ServiceCIDR": {"spec": {"cidrs": ["192.0.2.0/24"]}},
    "StorageClass": {"provisioner": "example.test/provisioner"},
    "ValidatingAdmissionPolicy": {
        "spec": {
            "matchConstraints": _CONSTRAINTS,
            "validations": [{"expression": "size(object.spec.containers) < 10"}],
        }
    },
    "ValidatingAdmissionPolicyBinding": {
        "spec": {"policyName": "example", "validationActions": ["Warn"]}
    },
    "ValidatingWebhookConfiguration": {"webhooks": _WEBHOOKS},
    "VolumeAttachment": {
        "spec": {
            "attacher": "example.test",
            "nodeName": "node-1",
            "source": {"persistentVolumeName": "example"},
        }
    },
    "VolumeAttributesClass": {"driverName": "example.test", "parameters": {"iops": "100"}},
}  # fmt: skip
NAMES = {  # of kinds whose names are no words
    "APIService": "v1.example.test",
    "CustomResourceDefinition": "widgets.example.test",
    "IPAddress": "192.0.2.1",
}
