"""The pages, each with its `.json` twin."""

from __future__ import annotations

from django.contrib.auth.views import LogoutView
from django.urls import path

from dashboard import views
from dashboard.faults.page import faults
from dashboard.informers.page import informers
from dashboard.learn import page as learning
from dashboard.machinery import views as machinery
from dashboard.objects import views as objects
from dashboard.pages import addresses

app_name = "dashboard"


urlpatterns = [
    *addresses("", views.overview, "overview"),
    *addresses("resources/<str:resource>", views.resource, "resource"),
    *addresses("flow", machinery.flow, "flow"),
    *addresses("events/<int:revision>", machinery.event, "event"),
    *addresses("watchers", machinery.watchers, "watchers"),
    *addresses("watchers/<int:number>", machinery.watcher, "watcher"),
    *addresses("rings", machinery.rings, "rings"),
    *addresses("rings/<str:resource>", machinery.ring, "ring"),
    *addresses("attach", views.attach, "attach"),
    *addresses("informers", informers, "informers"),
    *addresses("learn", learning.learn, "learn"),
    *addresses("learn/pod", learning.pod, "learn-pod"),
    *addresses("learn/compare", learning.compare, "learn-compare"),
    *addresses("faults", faults, "faults"),
    *addresses("objects", objects.directory, "objects"),
    *addresses("objects/<str:resource>", objects.listing, "objects-of"),
    *addresses("objects/<str:resource>/<str:name>", objects.one, "cluster-object"),
    *addresses("objects/<str:resource>/<str:namespace>/<str:name>", objects.one, "object"),
    path("completion.json", objects.completion, name="completion"),
    *addresses("create", objects.create, "create"),
    path("patterns/", views.patterns, name="patterns"),
    path("theme/", views.theme, name="theme"),
    path("login/", views.Login.as_view(), name="login"),
    path("logout/", LogoutView.as_view(next_page="dashboard:login"), name="logout"),
    *addresses("<path:rest>", views.unknown, "unknown"),  # the last: it takes whatever is left
]
