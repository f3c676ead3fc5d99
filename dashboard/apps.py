"""The Django app of the dashboard."""

from __future__ import annotations

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    """Templates' tags and pages; it has no models."""

    name = "dashboard"
    verbose_name = "Dashboard"
