"""Deployments: a revision is a ReplicaSet, and a rollout moves replicas from one to another.

`controller` decides what is due, `revisions` finds and makes replica sets, `scaling` shares
replicas among them, `progress` tells in the status how it goes.
"""

from __future__ import annotations
