"""Benchmarks of searching: strategies, honesty, sharing, paid calls, replay. Simulated throughout, and says so.

python benchmarks/search [--quick] [PART …]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

import honesty
import null_check
import paid_calls
import replay
import sharing
import strategies

PARTS: dict[str, Callable[..., bool]] = {
    "sharing": sharing.main,
    "replay": replay.main,
    "strategies": strategies.main,
    "paid-calls": paid_calls.main,
    "honesty": honesty.main,
    "null-check": null_check.main,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small versions, a minute in all; they prove nothing")
    parser.add_argument(
        "parts", nargs="*", choices=[[], *PARTS], metavar="PART", help=f"of {', '.join(PARTS)}; all else"
    )
    options = parser.parse_args()
    began = time.perf_counter()
    failed: list[str] = []
    for name in options.parts or PARTS:
        started = time.perf_counter()
        if not PARTS[name](quick=options.quick):
            failed.append(name)
        print(f"  ({name}: {time.perf_counter() - started:.0f} s)\n", flush=True)
    print(f"{'FAILED: ' + ', '.join(failed) if failed else 'PASSED'} in {time.perf_counter() - began:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
