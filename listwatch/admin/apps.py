"""The admin as Django apps: the site, and the models of the served kinds.

Both stand in INSTALLED_APPS; `admin.py` registers the models when Django looks for admins.
"""

from __future__ import annotations

from django.apps import AppConfig
from django.contrib.admin.apps import SimpleAdminConfig


class SiteConfig(SimpleAdminConfig):
    """Django's admin with our site in it. Admins are looked for with the first page, in `urls`."""

    default_site = "listwatch.admin.site.Site"
    default = False


class ObjectsConfig(AppConfig):
    """The served kinds as models. They are proxies: it has no tables and no migrations."""

    name = "listwatch.admin"
    label = "objects"
    verbose_name = "Objects"
    default = True
