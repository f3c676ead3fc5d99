"""What needs a kubelet: logs are what a stand-in recorded on the pod, everything else is refused.

The recorded output of a container is an annotation of its pod, `log.listwatch.dev/` and the
container's name. Asked by `api` through the registry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.protocol.errors import Cause, StatusError, bad_request, invalid
from listwatch.protocol.kinds import GroupVersionKind
from listwatch.protocol.options import boolean
from listwatch.registry import reads

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.backend import Backend
    from listwatch.registry.context import RequestContext

PREFIX = "log.listwatch.dev/"
STREAMS = frozenset(("attach", "exec", "portforward", "proxy"))
_OPTIONS = GroupVersionKind("", "v1", "PodLogOptions")


@dataclass(frozen=True, slots=True)
class LogOptions:
    """Which part of which container's output; None for no limit."""

    container: str = ""
    tail_lines: int | None = None
    limit_bytes: int | None = None
    previous: bool = False  # that of the run before this one

    @classmethod
    def from_query(cls, query: dict[str, list[str]], name: str) -> LogOptions:
        """Read what the query says; raises 400 for what is no number, 422 for what cannot be."""
        tail, limit = _number(query, "tailLines"), _number(query, "limitBytes")
        causes = []
        if tail is not None and tail < 0:
            why = f"Invalid value: {tail}: must be greater than or equal to 0"
            causes.append(Cause("FieldValueInvalid", why, "tailLines"))
        if limit is not None and limit < 1:
            why = f"Invalid value: {limit}: must be greater than 0"
            causes.append(Cause("FieldValueInvalid", why, "limitBytes"))
        if causes:
            raise invalid(_OPTIONS, name, tuple(causes))
        previous = boolean(query, "previous")
        return cls(query.get("container", [""])[0], tail, limit, previous=previous)

    def of(self, text: str) -> str:
        """That part of a text."""
        if self.tail_lines is not None:
            lines = text.splitlines(keepends=True)
            text = "".join(lines[len(lines) - self.tail_lines :] if self.tail_lines else ())
        if self.limit_bytes is not None:
            text = text.encode()[: self.limit_bytes].decode(errors="ignore")
        return text


async def read_log(backend: Backend, ctx: RequestContext, options: LogOptions) -> str:
    """What a container wrote; nothing if nobody recorded anything. Raises 400, 404."""
    pod = (await reads.get(backend, ctx, "")).decode()
    container = _container(ctx, pod, options.container)
    _check_ran(ctx.name, pod, container, previous=options.previous)
    recorded = (pod["metadata"].get("annotations") or {}).get(f"{PREFIX}{container}", "")
    return options.of(recorded)


async def refuse_stream(backend: Backend, ctx: RequestContext) -> StatusError:
    """Why there is no stream: the object is not there, or nobody is behind it."""
    document = (await reads.get(backend, ctx, "")).decode()
    kind = ctx.resource.kind
    if kind == "Pod" and not (document.get("spec") or {}).get("nodeName"):
        return bad_request(f"pod {ctx.name} does not have a host assigned")
    message = f"no kubelet runs behind this server: {kind} {ctx.name} has no {ctx.subresource}"
    return StatusError(503, "ServiceUnavailable", message)


def _check_ran(name: str, pod: JSONObject, container: str, *, previous: bool) -> None:
    """Refuse, as a kubelet does, the log of a run that there was not (kubelet_pods.go)."""
    known = pod.get("status") or {}
    all_of = (known.get(f"{part}Statuses") or () for part in _PARTS)
    status = next((each for some in all_of for each in some if each.get("name") == container), None)
    if status is None:
        return  # no kubelet has told of it
    state, ended = status.get("state") or {}, (status.get("lastState") or {}).get("terminated")
    which = f'container "{container}" in pod "{name}"'
    if previous:
        if not ended:
            raise bad_request(f"previous terminated {which} not found")
    elif "waiting" in state and not ended:
        reason = state["waiting"].get("reason") or ""
        raise bad_request(f"{which} is waiting to start: {_WAITING.get(reason, reason)}")


_PARTS = ("container", "initContainer", "ephemeralContainer")
_WAITING = {
    "ErrImagePull": "image can't be pulled",
    "ImagePullBackOff": "trying and failing to pull image",
}


def _number(query: dict[str, list[str]], name: str) -> int | None:
    text = query.get(name, [""])[0]
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        why = f'strconv.ParseInt: parsing "{text}": invalid syntax'
        raise bad_request(why) from None


def _container(ctx: RequestContext, pod: JSONObject, wanted: str) -> str:
    spec = pod.get("spec") or {}
    main = [one.get("name", "") for one in spec.get("containers") or ()]
    if not wanted:
        if len(main) == 1:
            return str(main[0])
        inits = [one.get("name", "") for one in spec.get("initContainers") or ()]
        why = (
            f"a container name must be specified for pod {ctx.name}, "
            f"choose one of: [{' '.join(main)}]"
        )
        if inits:
            why += f" or one of the init containers: [{' '.join(inits)}]"
        raise bad_request(why)
    others = (spec.get("initContainers") or []) + (spec.get("ephemeralContainers") or [])
    if wanted in main or any(one.get("name") == wanted for one in others):
        return wanted
    raise bad_request(f"container {wanted} is not valid for pod {ctx.name}")
