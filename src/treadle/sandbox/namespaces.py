"""Namespaces: the box that bubblewrap would make, made by the inside itself where ``bwrap`` is not there."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from treadle.sandbox.layout import Layout
from treadle.sandbox.linux import LinuxSandbox, Wrapped


class Namespaces(LinuxSandbox):
    """Boxes by the kernel's namespaces alone; see ``guest/box.py``."""

    name = "namespaces"

    def wrapped(self, launch: Sequence[str], plan: dict[str, Any], layout: Layout, opened: ExitStack) -> Wrapped:
        """The inside's own command line: its plan says what to show."""
        plan["outer"] = "namespaces"
        plan["binds"] = [*((path, path, False) for path in layout.readable), *plan["binds"]]
        plan["links"], plan["texts"] = layout.links, layout.texts
        return Wrapped(launch)
