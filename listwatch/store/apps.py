"""The store as a Django app."""

from __future__ import annotations

from django.apps import AppConfig


class StoreConfig(AppConfig):
    """Label `listwatch_store`: its tables begin with that."""

    name = "listwatch.store"
    label = "listwatch_store"
    verbose_name = "Store"
