# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the memory of a run with its plan's numbers:

    check_memory.py PLAN REPORT

PLAN has been run by `ds-run train --report REPORT`. On every rank the arena must be the plan's peak, and the
process must have been at most 150 MB larger than that and what libraries work in; the arena is resident, so the process is not
smaller.
"""

import json
import subprocess
import sys

BEYOND_ARENA = 150e6  # bytes: code, message queues


def main(plan, report):
    inspected = json.loads(subprocess.run(["ds-run", "inspect", plan, "--json"], stdout=subprocess.PIPE, check=True).stdout)
    planned = sum(arena["bytes"] for arena in inspected["arenas"])
    peak = sum(peak["peak_bytes"] for peak in inspected["peaks"])
    ends = max(buffer["offset"] + buffer["bytes"] for buffer in inspected["buffers"])
    ranks = json.loads(open(report).read())["ranks"]
    is_right = planned == peak and ends <= peak and len(ranks) == inspected["mesh"][0]["size"]
    print("plan: arena of %d bytes, peak of %d, buffers end at %d" % (planned, peak, ends))
    for number, rank in enumerate(ranks):
        beyond = rank["resident_peak"] - rank["arena_taken"]
        fits = rank["arena_planned"] == rank["arena_taken"] == peak and 0 <= beyond <= BEYOND_ARENA + rank["library"]
        is_right &= fits
        print("rank %d: arena of %d bytes, %d resident, %d beyond the arena: %s"
              % (number, rank["arena_taken"], rank["resident_peak"], beyond, "ok" if fits else "FAILED"))
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
