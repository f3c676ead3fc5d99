"""Every option of the server: its default, its name in the environment, and what it means.

Three places, the later ones win: the defaults here, the Django setting `LISTWATCH` (a dict with
these names), and the environment variables `LISTWATCH_<NAME>`. docs/settings.md is made from this.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

_YES = frozenset({"1", "true", "yes", "on"})
_NO = frozenset({"0", "false", "no", "off", ""})


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one server. Seconds and bytes, unless a name says otherwise."""

    data: Path = Path(".listwatch")  # folder of database, certificates, tokens, kubeconfig
    token: str = ""  # the admin token; empty: one is made at the first start
    token_auth_file: str = ""  # more static tokens, a line each: token,user,uid,"group,group"
    database_url: str = ""  # postgres://user:password@host/name; empty: SQLite in `data`
    redis_url: str = ""  # channel layer for several processes; empty: in this process
    secret_key: str = ""  # signs sessions and login links; empty: one is made and kept in `data`
    allowed_hosts: str = ""  # names, by commas, that browsers may use beside those of this machine

    history_window: float = 75.0  # the ring keeps events this long: a bookmark period and 15 s
    ring_minimum: int = 100  # events a ring holds at least
    ring_maximum: int = 102_400  # events a ring holds at most
    ring_bytes: int = 64 * 1024 * 1024  # of bodies one ring may hold
    freshness_timeout: float = 3.0  # a consistent read waits this long for the cache
    bookmark_period: float = 60.0  # between two bookmarks of one watch
    watch_timeout: float = 1800.0  # a watch without timeoutSeconds: random up to twice this
    flush_interval: float = 0.01  # a busy lane is flushed at most this often
    flush_interval_busy: float = 0.04  # and this often in a busy process, if many watch
    chunk_bytes: int = 256 * 1024  # of frames joined into one chunk
    slow_reader_timeout: float = 60.0  # a watch that reads nothing for this long ends
    streaming_lists: bool = True  # sendInitialEvents; off: clients fall back to list and watch

    compaction_age: float = 600.0  # after this the log has lost a change; half as long it keeps it
    compaction_bytes: int = 512 * 1024 * 1024  # and this many bytes of them
    compaction_interval: float = 60.0  # how often that is looked at

    request_timeout: float = 60.0  # of every request that is no watch
    body_limit: int = 3 * 1024 * 1024  # of a request
    page_limit: int = 0  # lists answer in pages of at most this many; 0: as the client asks
    namespace_controller: bool = True  # empty and remove namespaces that are being deleted
    service_account_admission: bool = False  # pods get an account and its token; `serve` sets it
    faults: bool = False  # faults may be put in on purpose (docs/dashboard.md); `serve --faults`


def load(
    setting: Mapping[str, Any] | None = None,  # Any: values of as many types as there are options
    environment: Mapping[str, str] | None = None,
) -> Options:
    """The options in force; raises ValueError that names the option and the value."""
    options = Options()
    known = {field.name: type(getattr(options, field.name)) for field in fields(Options)}
    given: dict[str, Any] = {}
    for name, value in (setting or {}).items():
        if name not in known:
            raise ValueError(f"LISTWATCH has no option {name!r}")
        given[name] = Path(value) if known[name] is not str and name == "data" else value
    for name, kind in known.items():
        text = (os.environ if environment is None else environment).get(f"LISTWATCH_{name.upper()}")
        if text is not None:
            given[name] = _read(name, text, kind)
    return replace(options, **given)


def _read(name: str, text: str, kind: type[Any]) -> Any:  # Any: one of the option types
    variable = f"LISTWATCH_{name.upper()}"
    if kind is bool:
        if text.lower() in _YES or text.lower() in _NO:
            return text.lower() in _YES
        raise ValueError(f"{variable}={text!r} is neither yes nor no")
    try:
        return Path(text) if issubclass(kind, Path) else kind(text)
    except ValueError as error:
        raise ValueError(f"{variable}={text!r} is no {kind.__name__}") from error
