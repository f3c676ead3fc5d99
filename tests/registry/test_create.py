"""Create: what the server sets, what it refuses, and in whose words."""

from __future__ import annotations

import re

from tests.registry.house import House, configmap


async def test_a_created_object_has_an_identity_and_is_seen_at_once(house: House) -> None:
    made = await house.create("configmaps", configmap(data={"k": "v"}))

    metadata = made["metadata"]
    assert list(made) == ["kind", "apiVersion", "metadata", "data"]
    assert metadata["namespace"] == "default"
    assert re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", metadata["uid"])
    assert metadata["creationTimestamp"] == "2023-11-14T22:13:20Z"
    assert metadata["resourceVersion"] == str(house.revision)
    assert await house.get("configmaps", "a") == made
