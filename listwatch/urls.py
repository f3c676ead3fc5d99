"""Pages of people: dashboard, admin, and the login link. Kubernetes paths never come here."""

from __future__ import annotations

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from listwatch.serving.login import login_by_link

# Here and not when Django starts: forms and widgets take a tenth of a second and some MiB.
admin.autodiscover()

urlpatterns: list[URLPattern | URLResolver] = [
    path("dashboard/", include("dashboard.urls")),
    path("admin/", admin.site.urls),
    path("login/<str:token>/", login_by_link, name="login-link"),
]
