"""What a process of controllers is told: which of them run, on how many nodes, how fast time goes.

Made from the arguments of `manage.py controllers`; read by `manager`.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ControllerOptions:
    """The options of one process; raises ValueError for what cannot be."""

    controllers: str = "*"  # by commas: a name, `*` for all, `-name` for all but this
    nodes: int = 3  # that the kubelet stand-in registers
    node_prefix: str = "node-"
    node_cpu: str = "16"
    node_memory: str = "64Gi"
    node_pods: int = 110
    speed: float = 1.0  # time passes so many times as fast: grace periods, back-offs, schedules
    root_ca: str = field(default="", repr=False)  # PEM text of the authority that pods shall trust
    lead: bool = False  # take part in an election first: where several such processes run

    def __post_init__(self) -> None:
        if self.nodes < 0:
            raise ValueError("there are no fewer than 0 nodes")
        if self.speed <= 0:
            raise ValueError("time passes at a speed above 0")
        if self.node_pods < 1:
            raise ValueError("a node runs at least one pod")
