"""Pages of people: dashboard, admin, and the login link. Kubernetes paths never come here."""

from __future__ import annotations

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from listwatch.serving.login import login_by_link

urlpatterns: list[URLPattern | URLResolver] = [
    path("dashboard/", include("dashboard.urls")),
    path("admin/", admin.site.urls),
    path("login/<str:token>/", login_by_link, name="login-link"),
]
