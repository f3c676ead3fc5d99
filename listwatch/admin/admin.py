"""Registers an admin for every served kind; Django imports it when it looks for admins."""

from __future__ import annotations

from django.contrib import admin

from listwatch.admin.models import PROXIES
from listwatch.admin.object_admin import ObjectAdmin

for model in PROXIES.values():
    resource = model.kind  # type: ignore[attr-defined]
    name = f"{model.__name__}Admin"
    admin.site.register(model, type(name, (ObjectAdmin,), {"resource": resource}))
