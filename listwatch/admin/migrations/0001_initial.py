"""The kinds as proxies of StoredObject: no tables, but Django's permissions are made for them.

Made from the same data as the models, so the two never differ and no further migration is due.
"""

from __future__ import annotations

from django.db import migrations

from listwatch.admin.models import PROXIES


class Migration(migrations.Migration):
    """Stands behind the store's tables."""

    initial = True
    dependencies = [("listwatch_store", "0001_initial")]  # noqa: RUF012 (Django's form)
    operations = [  # noqa: RUF012 (Django's form)
        migrations.CreateModel(
            name=model.__name__,
            fields=[],
            options={**model._meta.original_attrs, "constraints": [], "indexes": []},  # its Meta
            bases=("listwatch_store.storedobject",),
        )
        for model in PROXIES.values()
    ]
