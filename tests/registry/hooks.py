"""Webhooks in the test's own process, and what they are asked about."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from typing import Any

import orjson
from aiohttp import web

from listwatch.protocol.objects import JSONObject
from tests.registry.house import House

GROUP = "admissionregistration.k8s.io"
Answer = Callable[[JSONObject], JSONObject]


class Hook:
    """A webhook in this process: `answers` says what it does, `asked` what it was asked."""

    def __init__(self) -> None:
        self.asked: list[JSONObject] = []
        self.answers: dict[str, Answer] = {}
        self.url = self.bundle = ""
        self.port = 0
        self.delay = 0.0

    async def handle(self, request: web.Request) -> web.Response:
        review = orjson.loads(await request.read())
        self.asked.append(review["request"])
        await asyncio.sleep(self.delay)
        answer = self.answers[request.path](review["request"])
        uid = review["request"]["uid"]
        body = {
            "kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1",
            "response": {"uid": uid, **answer},
        }  # fmt: skip
        return web.Response(body=orjson.dumps(body), content_type="application/json")


async def configure(house: House, hook: Hook, kind: str, answer: Answer, **more: Any) -> None:
    """Have a webhook asked about config maps; `validating` or `mutating`."""
    name = more.pop("name", "w.x.test")
    path = f"/{name}"
    hook.answers[path] = answer
    rules = more.pop("rules", None) or [
        {"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}
    ]
    webhook = {
        "name": name, "rules": rules,
        "clientConfig": {"url": more.pop("url", hook.url + path), "caBundle": hook.bundle},
        "sideEffects": "None", "admissionReviewVersions": ["v1"], **more,
    }  # fmt: skip
    ctx = house.ctx(f"{kind}webhookconfigurations", group=GROUP)
    await house.registry.create(ctx, {"metadata": {"name": name}, "webhooks": [webhook]})
    await house.registry.catch_up()


def patch(*operations: JSONObject) -> Answer:
    text = base64.b64encode(orjson.dumps(list(operations))).decode()
    return lambda _: {"allowed": True, "patchType": "JSONPatch", "patch": text}


def allow(_: JSONObject) -> JSONObject:
    return {"allowed": True}
