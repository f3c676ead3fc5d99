"""The house as a Django app: it brings the commands and the system checks."""

from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig


class ListwatchConfig(AppConfig):
    """It has no models; those are the store's."""

    name = "listwatch"
    label = "listwatch"

    def ready(self) -> None:
        """Register the system checks, which are loaded by name as Django loads models."""
        import_module("listwatch.checks")
