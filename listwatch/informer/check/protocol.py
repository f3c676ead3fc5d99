"""What single lists and watches must answer; verdicts go to `__main__`."""

from __future__ import annotations

import asyncio
import itertools

from listwatch.informer.check.stage import (
    PATIENCE,
    CheckFailedError,
    CheckSkippedError,
    Stage,
    require,
    scenario,
)
from listwatch.informer.errors import (
    ApiError,
    ConflictError,
    GoneError,
    InvalidError,
    TooLargeResourceVersionError,
    api_error,
)
from listwatch.informer.event_reader import ends_initial_events, is_older
from listwatch.informer.list_watch import ListQuery, WatchQuery
from listwatch.informer.objects import resource_version
from listwatch.informer.pager import list_all
from listwatch.informer.resources import CONFIG_MAPS

FAR = 10**9  # revisions ahead of any server's present


@scenario("a list has a resourceVersion and all objects")
async def whole_list(stage: Stage) -> None:
    """Version "" is consistent, so what was just written is in it."""
    await stage.create("a")
    listed = await stage.source().list(ListQuery())
    require(listed.resource_version not in ("", "0"), "the list has no resourceVersion")
    require("a" in _names(listed.items), "an object that was written before is not in the list")


@scenario("pages show one state, under the version of the first")
async def pages(stage: Stage) -> None:
    """What is written between two pages is in none of them."""
    for number in range(5):
        await stage.create(f"p{number}")
    source, found = stage.source(), []
    first = await source.list(ListQuery(limit=2))
    require(first.continue_token, "five objects fit into a page of two")
    await stage.delete("p4")
    await stage.create("p5")
    token, found = first.continue_token, list(first.items)
    while token:
        page = await source.list(ListQuery(limit=2, continue_token=token))
        require(page.resource_version == first.resource_version, "a later page has its own version")
        found += page.items
        token = page.continue_token
    names = [name for name in _names(found) if name.startswith("p")]
    require(names == [f"p{n}" for n in range(5)], f"the pages hold {names}")
    whole = await list_all(source.list, ListQuery(limit=3))
    require(len(whole.items) == len(set(_names(whole.items))), "an object is on two pages")


@scenario("a watch from a list's version tells everything since, in order")
async def since_a_list(stage: Stage) -> None:
    """Written before the watch was opened, and after."""
    version = await stage.version()
    await stage.create("w")
    await stage.change("w")
    stream = await stage.source().watch(WatchQuery(version, 60))
    try:
        await stage.change("w")
        await stage.delete("w")
        events = await stage.take(stream, 4)
    finally:
        await stream.close()
    types = [event.type for event in events]
    require(types == ["ADDED", "MODIFIED", "MODIFIED", "DELETED"], f"it told {types}")
    versions = [resource_version(event.object) for event in events]
    pairs = itertools.pairwise(versions)
    require(all(is_older(a, b) for a, b in pairs), f"versions do not grow: {versions}")


@scenario("a watch that was cut goes on where it was, without loss or repetition")
async def resumed(stage: Stage) -> None:
    """By the version of the last event that came."""
    version = await stage.version()
    await stage.create("r")
    [first] = await stage.events(WatchQuery(version, 60), 1)
    await stage.change("r")
    await stage.delete("r")
    events = await stage.events(WatchQuery(resource_version(first.object), 60), 2)
    types = [event.type for event in events]
    require(types == ["MODIFIED", "DELETED"], f"it told {types}")


@scenario("a streaming list ends with its bookmark, also where there is nothing")
async def streaming_list(stage: Stage) -> None:
    """Skipped where the server says that it cannot."""
    await stage.create("s")
    query = WatchQuery(timeout_seconds=60, initial_events=True)
    for selector, least in (("", 1), ("no-such-label=x", 0)):
        try:
            stream = await stage.source(selector).watch(query)
        except (InvalidError, ApiError) as error:
            raise CheckSkippedError(f"no streaming lists: {error}") from error
        seen = 0
        try:
            async with asyncio.timeout(PATIENCE):
                async for event in stream:
                    if event.type == "BOOKMARK" and ends_initial_events(event.object):
                        require(resource_version(event.object), "the bookmark has no version")
                        break
                    seen += 1
        except TimeoutError:
            raise CheckFailedError("the bookmark that ends the state did not come") from None
        finally:
            await stream.close()
        require(seen >= least, "an object is missing in the state")


@scenario("a selector turns changes into ADDED and DELETED")
async def selected(stage: Stage) -> None:
    """An object that begins to match, and ceases to."""
    version = await stage.version()
    await stage.create("l", color="red")
    await stage.change("l", color="blue")
    await stage.change("l", color="blue", size="big")
    await stage.change("l", color="red")
    events = await stage.events(WatchQuery(version, 60), 3, "color=blue")
    types = [event.type for event in events]
    require(types == ["ADDED", "MODIFIED", "DELETED"], f"it told {types}")


@scenario("a watch ends cleanly when its time is over")
async def timed(stage: Stage) -> None:
    """`timeoutSeconds` is obeyed."""
    stream = await stage.source().watch(WatchQuery(await stage.version(), 1))
    try:
        async with asyncio.timeout(PATIENCE):
            async for _ in stream:
                pass
    except TimeoutError:
        raise CheckFailedError(f"it was still open after {PATIENCE:g} seconds") from None
    finally:
        await stream.close()


@scenario("a version that is too old is answered by 410, in either form")
async def too_old(stage: Stage) -> None:
    """Skipped where the server still remembers its first revision."""
    try:
        stream = await stage.source().watch(WatchQuery("1", 5))
    except GoneError:
        return
    try:
        async with asyncio.timeout(PATIENCE):
            async for event in stream:
                if event.type != "ERROR":
                    raise CheckSkippedError("this server remembers everything")
                error = api_error(event.object)
                require(isinstance(error, GoneError), f"it answered {error}")
                return
    except TimeoutError:
        pass
    finally:
        await stream.close()
    raise CheckSkippedError("this server remembers everything")


@scenario("a version that is not reached is answered by 504 with its cause")
async def too_large(stage: Stage) -> None:
    """Or else a client of a restored server waits for ever."""
    version = await stage.version()
    if not version.isdecimal():
        raise CheckSkippedError("versions of this server are no numbers")
    try:
        await stage.source().list(ListQuery(str(int(version) + FAR)))
    except TooLargeResourceVersionError:
        return
    except ApiError as error:
        raise CheckFailedError(f"it answered {error}") from error
    raise CheckFailedError("it answered with a list")


@scenario("a write upon an old version is refused by 409")
async def conflict(stage: Stage) -> None:
    """Nobody's change is overwritten unseen."""
    old = await stage.create("c")
    await stage.change("c")
    try:
        await stage.client.update(CONFIG_MAPS, old)
    except ConflictError:
        return
    raise CheckFailedError("it was written")


def _names(items: list[dict[str, dict[str, str]]]) -> list[str]:
    return [item["metadata"]["name"] for item in items]
