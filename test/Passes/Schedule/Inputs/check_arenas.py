# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the arenas of plans with their largest live sets:

    check_arenas.py PERCENT PLAN...

No arena may be more than PERCENT larger than the most bytes that are live at once, which none can be smaller than.
"""

import json
import subprocess
import sys


def main(percent, *plans):
    is_right = len(plans) > 0
    for plan in plans:
        inspected = json.loads(subprocess.run(["ds-run", "inspect", plan, "--json"], stdout=subprocess.PIPE, check=True).stdout)
        for peak in inspected["peaks"]:
            arena, bound = peak["peak_bytes"], peak["lower_bound_bytes"]
            fits = bound <= arena <= bound * (1 + float(percent) / 100)
            is_right &= fits
            print("%s: arena of %d bytes, %.2f %% above the %d that are live at once: %s"
                  % (plan, arena, 100 * (arena / bound - 1), bound, "ok" if fits else "FAILED"))
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
