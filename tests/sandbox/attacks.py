"""All attacks on sandboxes; run as a program, it prints the table of the page about them."""

from __future__ import annotations

from attacks_on_files import FILES
from attacks_on_network import NETWORK
from attacks_on_processes import PROCESSES
from attacks_on_resources import RESOURCES
from attacks_on_the_kernel import KERNEL
from attacks_on_the_next import NEXT
from attacks_on_time import TIME

GROUPS = {
    "Files": FILES,
    "Network": NETWORK,
    "Processes": PROCESSES,
    "Memory, disk and output": RESOURCES,
    "Time": TIME,
    "The kernel": KERNEL,
    "Other programs in the same sandbox": NEXT,
}
ATTACKS = {attack.name: attack for group in GROUPS.values() for attack in group}


def tables() -> str:
    """The tables of the page: one for each group, and what is not claimed."""
    parts: list[str] = []
    for title, group in GROUPS.items():
        rows = [f"| {each.name} | {each.goal} | {each.observed} | {each.shown.words()} |" for each in group]
        head = ("| Attack | Goal | What must be observed | Shown to work |", "|---|---|---|---|")
        parts.append("\n".join((f"## {title}", "", *head, *rows)))
    rows = [
        f"| {each.name} | `{kind}` | {why} |" for each in ATTACKS.values() for kind, why in each.not_claimed.items()
    ]
    parts.append("\n".join(("## What is not claimed", "", "| Attack | By | Why |", "|---|---|---|", *rows)))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    print(tables(), end="")
