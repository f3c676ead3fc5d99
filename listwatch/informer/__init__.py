"""The client half of list-watch: Reflector, DeltaFIFO, Indexer, SharedInformer, Lister, workqueue.

A client like any other: it knows a server by its URL alone and imports nothing of one. Everything
here lives in one asyncio event loop; `listwatch.informer.sync` offers it to threads.
"""

from __future__ import annotations

from listwatch.informer import kubeconfig, resources
from listwatch.informer.client import Client
from listwatch.informer.client_config import ClientConfig
from listwatch.informer.factory import Scope, SharedInformerFactory
from listwatch.informer.failures import FollowState
from listwatch.informer.handlers import (
    FilteringHandler,
    HandlerFunctions,
    HandlerOptions,
    ResourceEventHandler,
)
from listwatch.informer.indexer import Indexer
from listwatch.informer.indices import NAMESPACE
from listwatch.informer.leader_election import LeaderElectionOptions, LeaderElector
from listwatch.informer.list_watch import HTTPListerWatcher
from listwatch.informer.listener import Registration
from listwatch.informer.lister import Lister, NamespaceLister
from listwatch.informer.objects import Deleted, is_resync, object_key, split_key
from listwatch.informer.reflector import Reflector
from listwatch.informer.reflector_options import ReflectorOptions
from listwatch.informer.resources import APIResource
from listwatch.informer.shared_informer import InformerOptions, SharedIndexInformer
from listwatch.informer.waiting import NotSyncedError, wait_for_cache_sync
from listwatch.informer.workqueue import RateLimitingQueue, WorkQueue

__all__ = [
    "NAMESPACE",
    "APIResource",
    "Client",
    "ClientConfig",
    "Deleted",
    "FilteringHandler",
    "FollowState",
    "HTTPListerWatcher",
    "HandlerFunctions",
    "HandlerOptions",
    "Indexer",
    "InformerOptions",
    "LeaderElectionOptions",
    "LeaderElector",
    "Lister",
    "NamespaceLister",
    "NotSyncedError",
    "RateLimitingQueue",
    "Reflector",
    "ReflectorOptions",
    "Registration",
    "ResourceEventHandler",
    "Scope",
    "SharedIndexInformer",
    "SharedInformerFactory",
    "WorkQueue",
    "is_resync",
    "kubeconfig",
    "object_key",
    "resources",
    "split_key",
    "wait_for_cache_sync",
]
