"""What a request leaves behind is freed at once: a body may be large, and collections are rare."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tests.api.asking import Face, config_map

PATH = "/api/v1/namespaces/ns/configmaps"


@pytest.fixture
def uncollected() -> Iterator[None]:
    gc.collect()
    gc.disable()
    gc.freeze()  # what other tests have left, and may let go of meanwhile, is not looked at
    gc.set_debug(gc.DEBUG_SAVEALL)
    yield
    gc.set_debug(0)
    gc.garbage.clear()
    gc.unfreeze()
    gc.enable()


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", PATH, config_map("n")),
        ("PUT", f"{PATH}/a", config_map("a")),
        ("GET", f"{PATH}/a", None),
        ("GET", f"{PATH}/none", None),
        ("GET", PATH, None),
        ("DELETE", f"{PATH}/a", None),
        ("POST", PATH, b"{"),
    ],
)
@pytest.mark.usefixtures("uncollected")
async def test_a_request_leaves_nothing_to_the_garbage_collector(
    method: str, path: str, body: dict[str, object] | bytes | None
) -> None:
    face = Face()
    face.registry.put(config_map("a"), 5)

    await face.ask(method, path, body)
    gc.collect()

    ours = [type(each) for each in gc.garbage if type(each).__module__.startswith("listwatch")]
    assert ours == []
