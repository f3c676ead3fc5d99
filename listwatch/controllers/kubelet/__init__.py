"""The kubelet stand-in: nodes that are none, and pods that run without a container.

What a watcher sees is what a cluster shows: phases, conditions, addresses, restarts, and an end in
good time. `scenarios` says what a pod's containers do, `containers` and `pod_run` play it,
`nodes` registers the nodes and keeps their leases, `addresses` deals out addresses, `controller`
follows the pods of each node.
"""

from __future__ import annotations
