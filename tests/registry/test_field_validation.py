"""fieldValidation: unknown and doubled fields are passed over, warned of, or refused."""

from __future__ import annotations

from tests.registry.house import House, configmap, pod, refused


async def test_warnings_name_every_field_once_and_the_object_is_stored_without_it(
    house: House,
) -> None:
    ctx = house.ctx("configmaps", duplicates=("data.k", "data"))
    await house.registry.create(ctx, configmap(what=1))

    assert ctx.warnings == [
        'unknown field "what"', 'duplicate field "data.k"', 'duplicate field "data"',
    ]  # fmt: skip
    assert "what" not in await house.get("configmaps", "a")


async def test_ignore_says_nothing(house: House) -> None:
    ctx = house.ctx("configmaps", duplicates=("data",), field_validation="Ignore")
    await house.registry.create(ctx, configmap(what=1))

    assert ctx.warnings == []
    assert "what" not in await house.get("configmaps", "a")


async def test_strict_refuses_with_all_of_them(house: House) -> None:
    ctx = house.ctx("configmaps", duplicates=("data.k",), field_validation="Strict")
    error = await refused(house.registry.create(ctx, configmap(what=1)))

    assert (error.code, error.message) == (
        400,
        (
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: '
            'unknown field "what", duplicate field "data.k"'
        ),
    )


async def test_strict_is_asked_before_the_object_is_looked_for(house: House) -> None:
    body = configmap("none", what=1)
    error = await refused(house.put("configmaps", body, field_validation="Strict"))

    assert error.code == 400


async def test_deep_fields_are_told_by_their_path(house: House) -> None:
    container = {"name": "main", "image": "i", "ports": [{"port": 5}], "Image": "x"}
    ctx = house.ctx("pods", field_validation="Strict")
    error = await refused(house.registry.create(ctx, pod(containers=[container])))

    assert error.message.endswith(
        'strict decoding error: unknown field "spec.containers[0].ports[0].port", '
        'unknown field "spec.containers[0].Image"'
    )


async def test_a_patch_warns_of_what_it_adds(house: House) -> None:
    await house.create("configmaps", configmap())
    ctx = house.ctx("configmaps", "a")
    await house.registry.patch(ctx, "application/merge-patch+json", {"what": 1})

    assert ctx.warnings == ['unknown field "what"']


async def test_what_is_known_of_the_order_decides_the_order(house: House) -> None:
    members = (("data", False), ("data.k", False), ("data.k", True), ("what", False))
    ctx = house.ctx(
        "configmaps", duplicates=("data.k",), members=members, field_validation="Strict"
    )
    error = await refused(house.registry.create(ctx, configmap(what=1)))

    assert error.message.endswith(
        'strict decoding error: duplicate field "data.k", unknown field "what"'
    )
