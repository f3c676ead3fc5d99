"""Nothing to make: the kinds are proxies of StoredObject, made from data each time."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    """Stands behind the store's tables."""

    initial = True
    dependencies = [("listwatch_store", "0001_initial")]  # noqa: RUF012 (Django's form)
    operations = []  # noqa: RUF012 (Django's form)
