"""How much a pod asks for, as quotas and limits count it.

Containers that start one after the other need as much as the largest of them; those that run
side by side, as sidecars do, need the sum. Upstream: component-helpers/resource.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from listwatch.protocol.quantities import Quantity

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject

Amounts = dict[str, Quantity]


def read(amounts: Mapping[str, str | float] | None) -> Amounts:
    """Amounts as an object has them."""
    return {name: Quantity.of(value) for name, value in (amounts or {}).items()}


def add(first: Amounts, second: Amounts) -> Amounts:
    """The sum, name by name."""
    total = dict(first)
    for name, amount in second.items():
        total[name] = total[name] + amount if name in total else amount
    return total


def largest(first: Amounts, second: Amounts) -> Amounts:
    """The larger one, name by name."""
    result = dict(first)
    for name, amount in second.items():
        if name not in result or result[name] < amount:
            result[name] = amount
    return result


def of_container(container: JSONObject, kind: str) -> Amounts:
    """The `requests` or the `limits` of one container."""
    return read((container.get("resources") or {}).get(kind))


def of_pod(spec: JSONObject, kind: str) -> Amounts:
    """The `requests` or the `limits` of a whole pod."""
    running: Amounts = {}
    for container in spec.get("containers") or ():
        running = add(running, of_container(container, kind))
    starting: Amounts = {}
    sidecars: Amounts = {}
    for container in spec.get("initContainers") or ():
        needed = of_container(container, kind)
        if container.get("restartPolicy") == "Always":
            sidecars = needed = add(sidecars, needed)
        else:
            needed = add(sidecars, needed)
        starting = largest(starting, needed)
    total = largest(add(running, sidecars), starting)
    overhead = read(spec.get("overhead"))
    if kind == "limits":
        overhead = {name: amount for name, amount in overhead.items() if name in total}
    return add(total, overhead)


def all_containers(spec: JSONObject) -> Iterator[JSONObject]:
    """The containers of a pod, those that start it first."""
    yield from spec.get("initContainers") or ()
    yield from spec.get("containers") or ()


def text(amounts: Amounts, names: Iterable[str]) -> str:
    """Some of the amounts as kube-apiserver lists them: `cpu=1,pods=2`."""
    return ",".join(f"{name}={amounts.get(name, Quantity.of(0))}" for name in sorted(names))
