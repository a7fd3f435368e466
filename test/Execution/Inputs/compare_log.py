"""Compares a run's log with an oracle: compare_log.py LOG.jsonl MODEL_DIR

Bounds per step, relative: losses max(1e-5, 4 times what f32 on one device is off), gradient norms 1e-5.
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
import npy

with open(sys.argv[1]) as file:
    records = [json.loads(line) for line in file]
losses, rounded, norms = (npy.read(os.path.join(sys.argv[2], name + ".npy")) for name in ("losses", "losses32", "grad_norms"))
if len(records) != len(losses):
    sys.exit("error: the run must have %d steps, got %d" % (len(losses), len(records)))
worst = 0
for record, loss, loss32, norm in zip(records, losses, rounded, norms):
    bound = max(1e-5, 4 * abs(loss32 - loss) / loss)
    share = max(abs(record["loss"] - loss) / loss / bound, abs(record["grad_norm"] - norm) / norm / 1e-5)
    if not share <= 1:
        sys.exit("error: step %d must have loss %.9g and norm %.9g, got %.9g and %.9g"
                 % (record["step"], loss, norm, record["loss"], record["grad_norm"]))
    worst = max(worst, share)
print("%d steps agree within %.2f of the bound" % (len(records), worst))
