# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Reads many damaged copies of a plan:

    corrupt_plans.py PLAN WORK_FOLDER COUNT

Each copy has a few bytes overwritten at random places (the seed is fixed), or is cut off. `ds-run inspect` must refuse it
with one line of text: exit code 8, or 2 if it does not even begin like a plan.
"""

import collections
import pathlib
import random
import subprocess
import sys


def damaged(data, random):
    at, size = random.randrange(len(data)), random.choice([1, 1, 4, 8])
    if random.random() < 0.1:
        return data[:at]
    noise = {"bit": bytes([data[at] ^ 1 << random.randrange(8)]), "ones": b"\xff" * size, "zeros": bytes(size),
             "noise": random.randbytes(size)}
    new = noise[random.choice(sorted(noise))]
    changed = (data[:at] + new + data[at + len(new) :])[: len(data)]
    return changed if changed != data else damaged(data, random)


def main(plan, work, count):
    generator = random.Random(1)
    data = pathlib.Path(plan).read_bytes()
    pathlib.Path(work).mkdir(parents=True, exist_ok=True)
    copy = pathlib.Path(work) / "damaged.dsplan"
    codes, failures = collections.Counter(), 0
    for number in range(count):
        copy.write_bytes(damaged(data, generator))
        answer = subprocess.run(["ds-run", "inspect", str(copy)], capture_output=True, timeout=60)
        text = answer.stderr.decode(errors="replace").splitlines()
        codes[answer.returncode] += 1
        begins = copy.read_bytes()[4:8] == b"DSPL" and copy.stat().st_size >= 16
        if (answer.returncode, len(text)) != (8 if begins else 2, 1):
            failures += 1
            print("copy %d: exit code %d: %s" % (number, answer.returncode, text[:3]))
    print("%d copies: " % count + ", ".join("%d with exit code %d" % (n, code) for code, n in sorted(codes.items())))
    return 1 if failures or not codes[8] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
