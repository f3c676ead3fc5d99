"""Random writes, deletions and finalizers against a model of a few lines."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from listwatch.protocol.errors import StatusError
from listwatch.protocol.events import EndReason
from tests.registry.house import House, configmap, frames, open_house

# Weighted so that most sequences meet an object that is there, and held.
NAMES = st.sampled_from(["a", "a", "a", "b"])
DATA = st.sampled_from(["1", "2"])
FINALIZERS = st.sampled_from([[], ["x.test/1"], ["x.test/1"], ["x.test/1", "x.test/2"]])
VERSIONS = st.sampled_from(["none", "none", "current", "stale"])
_namespaces = itertools.count()


@dataclass(frozen=True)
class Write:
    """One step: what is done, to which object, and what it says."""

    verb: Literal["create", "put", "patch", "delete"]
    name: str
    data: str
    finalizers: list[str]
    version: str


WRITES = st.lists(
    st.builds(
        Write, st.sampled_from(["create", "put", "patch", "delete"]), NAMES, DATA, FINALIZERS,
        VERSIONS,
    ),
    min_size=10,
    max_size=30,
)  # fmt: skip


@dataclass
class Thing:
    """What the model knows of an object."""

    data: str
    finalizers: list[str]
    version: str = ""
    deleting: bool = False


@dataclass
class Model:
    """The rules, told once more and shortly."""

    things: dict[str, Thing] = field(default_factory=dict)
    events: list[tuple[str, str]] = field(default_factory=list)

    def expect(self, write: Write) -> int:
        """Carry out a write; the code it is answered with."""
        return {"create": self._create, "delete": self._delete}.get(write.verb, self._change)(write)

    def _create(self, write: Write) -> int:
        if write.name in self.things:
            return 409
        self.things[write.name] = Thing(write.data, write.finalizers)
        self.events.append(("ADDED", write.name))
        return 201

    def _change(self, write: Write) -> int:
        thing = self.things.get(write.name)
        if thing is None:
            return 404
        if write.version == "stale":
            return 409
        if thing.deleting and set(write.finalizers) - set(thing.finalizers):
            return 422
        if thing.deleting and not write.finalizers:
            del self.things[write.name]
            self.events.append(("DELETED", write.name))
        elif (thing.data, thing.finalizers) != (write.data, write.finalizers):
            thing.data, thing.finalizers = write.data, write.finalizers
            self.events.append(("MODIFIED", write.name))
        return 200

    def _delete(self, write: Write) -> int:
        thing = self.things.get(write.name)
        if thing is None:
            return 404
        if write.version == "stale":
            return 409
        if not thing.finalizers:
            del self.things[write.name]
            self.events.append(("DELETED", write.name))
        elif not thing.deleting:
            thing.deleting = True
            self.events.append(("MODIFIED", write.name))
        return 200


@dataclass
class Subject:
    """The registry, asked for the same."""

    house: House
    namespace: str

    async def carry_out(self, write: Write) -> int:
        try:
            await self._write(write)
        except StatusError as error:
            return error.code
        return 201 if write.verb == "create" else 200

    async def _write(self, write: Write) -> None:
        house, namespace = self.house, self.namespace
        version = await self._version(write)
        metadata: dict[str, Any] = {"finalizers": write.finalizers}
        if write.verb == "delete":
            await house.delete(
                "configmaps", write.name, namespace=namespace, resource_version=version
            )
            return
        if version and write.verb != "create":
            metadata["resourceVersion"] = version
        body = configmap(write.name, metadata=metadata, data={"k": write.data})
        if write.verb == "create":
            await house.create("configmaps", body, namespace=namespace)
        elif write.verb == "put":
            await house.put("configmaps", body, namespace=namespace)
        else:
            patch = {"metadata": metadata, "data": {"k": write.data}}
            await house.patch("configmaps", write.name, patch, namespace=namespace)

    async def _version(self, write: Write) -> str:
        if write.version == "none":
            return ""
        if write.version == "stale":
            return "1"
        try:
            found = await self.house.get("configmaps", write.name, namespace=self.namespace)
        except StatusError:
            return ""
        return str(found["metadata"]["resourceVersion"])

    async def things(self) -> dict[str, Thing]:
        ctx = self.house.ctx("configmaps", namespace=self.namespace)
        found = {}
        from listwatch.protocol.options import ListOptions

        for version in (await self.house.registry.list(ctx, ListOptions())).versions:
            document = version.decode()
            metadata = document["metadata"]
            found[version.name] = Thing(
                document["data"]["k"], metadata.get("finalizers", []),
                deleting="deletionTimestamp" in metadata,
            )  # fmt: skip
        return found


async def agree(house: House, writes: list[Write]) -> None:
    namespace = f"n{next(_namespaces)}"
    await house.create("namespaces", {"metadata": {"name": namespace}})
    subject, model = Subject(house, namespace), Model()
    watcher = await house.watch("configmaps", namespace=namespace)
    for write in writes:
        before = len(model.events)
        revision = house.revision
        expected = model.expect(write)

        assert await subject.carry_out(write) == expected, write
        assert house.revision - revision == len(model.events) - before, write
        assert await subject.things() == model.things, write
    seen = await frames(watcher, len(model.events))
    watcher.close(EndReason.CLIENT_LEFT)

    assert [(kind, one["metadata"]["name"]) for kind, one in seen] == model.events
    revisions = [int(one["metadata"]["resourceVersion"]) for _, one in seen]
    assert revisions == sorted(set(revisions))


def test_any_sequence_of_writes_does_what_the_model_says(facts: None, store: None) -> None:
    @settings(
        max_examples=60,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],  # a sequence is short; shrinking it takes minutes
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(WRITES)
    def holds(writes: list[Write]) -> None:
        runner.run(agree(house, writes))

    with asyncio.Runner() as runner:
        opening = open_house()
        house = runner.run(opening.__aenter__())
        try:
            holds()
        finally:
            runner.run(opening.__aexit__(None, None, None))


def test_the_model_knows_more_than_one_end() -> None:
    """So that the property above cannot pass by never reaching what it is about."""
    model = Model()
    steps = [
        Write("create", "a", "1", ["x.test/1"], "none"),
        Write("delete", "a", "", [], "none"),
        Write("put", "a", "1", ["x.test/2"], "none"),
        Write("put", "a", "1", [], "none"),
    ]

    assert [model.expect(step) for step in steps] == [201, 200, 422, 200]
    assert model.events == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


pytestmark = pytest.mark.timeout(120)
