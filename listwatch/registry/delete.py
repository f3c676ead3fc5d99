"""Delete: one object or a collection, at once or in steps, with what the client must be told.

`deletion` decides what a request does to an object; the writes go to `store`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from listwatch.protocol.errors import StatusError
from listwatch.protocol.objects import encode
from listwatch.protocol.options import DeleteOptions
from listwatch.registry.admission import NAMESPACES, empty_namespace
from listwatch.registry.admission.request import DELETE
from listwatch.registry.backend import Key, Outcome, State, Step
from listwatch.registry.context import Deleted
from listwatch.registry.conversions import completed, served
from listwatch.registry.custom_resources.resources_of import DEFINITIONS
from listwatch.registry.deletion import (
    Verdict,
    check_preconditions,
    decide,
    decide_definition,
    decide_namespace,
    protected,
)
from listwatch.registry.metadata import ordered
from listwatch.registry.reads import list_objects
from listwatch.registry.strategies.namespaces import PROTECTED
from listwatch.registry.strategies.table import strategy_of
from listwatch.store.writes import Delete, Update

if TYPE_CHECKING:
    from listwatch.protocol.objects import Encoded
    from listwatch.protocol.options import ListOptions
    from listwatch.protocol.versions import Version
    from listwatch.registry.admission.chain import Review
    from listwatch.registry.backend import Backend
    from listwatch.registry.context import RequestContext
    from listwatch.registry.strategies.strategy import Strategy

_DECISIONS = {NAMESPACES: decide_namespace, DEFINITIONS: decide_definition}
_AT_ONCE = 16  # deletions of one collection under way: others wait for all of them


async def delete(backend: Backend, ctx: RequestContext, options: DeleteOptions) -> Deleted:
    """Delete an object, or begin to; raises 403, 404, 409."""
    key = backend.key(ctx)
    dry_run = ctx.dry_run or options.dry_run
    if key.group_resource == NAMESPACES and key.name in PROTECTED:
        raise protected(key.name)
    deletion = _Deletion(backend, ctx, key)
    if options.orphan_dependents is None and not options.propagation_policy:
        ctx.warnings.extend(deletion.strategy.warnings_on_delete())
    outcome = await backend.settle(key, deletion.transform(options), dry_run=dry_run)
    if deletion.verdict is Verdict.MARK_AND_REMOVE and not dry_run:
        outcome = await deletion.remove(outcome)
    gone = deletion.verdict in (Verdict.REMOVE, Verdict.MARK_AND_REMOVE)
    answer: Encoded | None = outcome.step.answer
    if gone and not deletion.strategy.answers_deleted_object:
        answer = None
    return Deleted(
        None if answer is None else served(ctx.resource, completed(ctx.resource, answer)),
        outcome.revision, gone, outcome.before.uid,
    )  # fmt: skip


async def delete_collection(
    backend: Backend, ctx: RequestContext, options: DeleteOptions, selected: ListOptions
) -> list[Version]:
    """Delete what a list finds (one page, if it is limited), and give that list.

    Not atomic: the first refusal ends it, but what is gone by then stays gone. Objects that go
    meanwhile are none.
    """
    found = await list_objects(backend, ctx, selected)
    gate = asyncio.Semaphore(_AT_ONCE)

    async def delete_one(version: Version) -> None:
        async with gate:
            try:
                one = replace(ctx, namespace=version.namespace, name=version.name)
                await delete(backend, one, options)
            except StatusError as error:
                if error.code != 404:
                    raise

    try:
        async with asyncio.TaskGroup() as tasks:
            for version in found.versions:
                tasks.create_task(delete_one(version))
    except BaseExceptionGroup as refusals:
        raise refusals.exceptions[0] from None
    return list(found.versions)


class _Deletion:
    """One deletion, which may see several states before it settles."""

    def __init__(self, backend: Backend, ctx: RequestContext, key: Key) -> None:
        self.backend = backend
        self.ctx = ctx
        self.key = key
        self.strategy: Strategy = strategy_of(ctx.resource)
        self.verdict = Verdict.WAIT
        self.reviewed = False  # admission lets it go

    def transform(self, options: DeleteOptions) -> Callable[[State], Step]:
        """What `settle` applies to the state."""

        def step(state: State) -> Step:
            review = None
            if not self.reviewed:
                review = self.backend.admission.review(self.ctx, DELETE, None)
            if review is not None:
                return Step(None, state.encoded, partial(self._review, review, decided, state))
            return decided(state)

        def decided(state: State) -> Step:
            document = state.document()
            metadata = document["metadata"]
            check_preconditions(self.ctx.resource.gvk, metadata, options)
            how = _DECISIONS.get(self.key.group_resource, decide)
            self.verdict = how(self.strategy, document, options, self.backend.clock.now())
            where = (*self.key[:3], state.revision)
            if self.verdict is Verdict.REMOVE:
                guard = None
                if self.key.group_resource == NAMESPACES:
                    guard = empty_namespace(self.key.name)
                return Step(Delete(*where, state.encoded, guard), state.encoded)
            document["metadata"] = ordered(metadata)
            encoded = encode(document)
            if self.verdict is Verdict.WAIT or encoded.body == state.encoded.body:
                return Step(None, state.encoded)
            return Step(Update(*where, encoded), encoded)

        return step

    async def _review(self, review: Review, decided: Callable[[State], Step], state: State) -> Step:
        step = decided(state)
        await review.check(None, state.document())
        self.reviewed = True
        return step

    async def remove(self, marked: Outcome) -> Outcome:
        """Remove what was just marked; whoever else removed it meanwhile did the same."""
        again = DeleteOptions(grace_period_seconds=0, uid=marked.before.uid)
        try:
            return await self.backend.settle(self.key, self.transform(again))
        except StatusError as error:
            if error.code not in (404, 409):
                raise
            self.verdict = Verdict.REMOVE
            return marked
