"""Addresses of nodes and of the pods on them, dealt out without asking anyone.

Used by `nodes` for registration and by `controller` for every pod.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network

_PODS = int(IPv4Address("10.244.0.0"))
_HOSTS = int(IPv4Address("172.18.0.2"))
_RESERVED = 2  # the network itself, and its gateway


class NodeAddresses:
    """The addresses of one node. An address is used again only when all others were."""

    def __init__(self, number: int, pods: int) -> None:
        """`number` counts the nodes from 0; `pods` is how many a node runs at most."""
        size = 256
        while size < 2 * pods + _RESERVED + 1:
            size *= 2
        self.host_ip = str(IPv4Address(_HOSTS + number))
        self._first = _PODS + number * size
        self._size = size
        self._next = 0
        self._used: dict[str, str] = {}  # address, uid of its pod

    @property
    def network(self) -> str:
        """The podCIDR."""
        return str(IPv4Network((self._first, 32 - (self._size.bit_length() - 1))))

    def take(self, uid: str, wanted: str = "") -> str:
        """An address for a pod; the wanted one if it is free."""
        if wanted and wanted not in self._used:
            self._used[wanted] = uid
            return wanted
        room = self._size - _RESERVED - 1
        for _ in range(room):
            address = str(IPv4Address(self._first + _RESERVED + self._next))
            self._next = (self._next + 1) % room
            if address not in self._used:
                self._used[address] = uid
                return address
        raise RuntimeError(f"no address is left in {self.network}")

    def give_back(self, address: str, uid: str) -> None:
        """A pod needs its address no more; nothing if it is another's."""
        if self._used.get(address) == uid:
            del self._used[address]
