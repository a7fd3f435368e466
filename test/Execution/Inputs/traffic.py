"""Checks the elements that a rank receives per step: traffic.py MODEL_DIR RANKS PARTS WORK_PREFIX

For each ZeRO stage the plan's numbers (ds-run inspect) must be those of the collectives in the placed program, and those must be what the
uses of the parameters say. With P parameters, N ranks and m parts of a batch, all times (N-1)/N:
    stage 0: 2P in all-reduces          stage 1: P in reduce-scatters, P in all-gathers
    stage 2: mP in reduce-scatters, P in all-gathers
    stage 3: mP in reduce-scatters, one all-gather per part and parameter for all uses that are near each other, at most 3mP in all.
Beside these only scalars (loss, label count, gradient norm) are reduced.
"""

import collections
import json
import math
import re
import subprocess
import sys

SCALARS = 16  # more all-reduced numbers than this beside the gradients are a fault


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout


def elements(type_text):
    """The number of elements of tensor<8x4xf32, ...>."""
    shape = re.match(r"tensor<((?:\d+x)*)", type_text).group(1)
    return math.prod(int(size) for size in shape.split("x") if size)


def parameters(program):
    found = re.findall(r"ds\.variable @(\S+) \{[^\n]*role = #ds\.role<parameter>\} : (tensor<.*>)", program)
    return {name: elements(type_text) for name, type_text in found}


def uses(program):
    """How many ops use each parameter, at least."""
    values = {}
    for value, name in re.findall(r"(%\S+) = ds\.read @(\S+) ", program):
        values[value] = name
    counts = collections.Counter()
    for line in program.splitlines():
        if " ds.assign " in line or "_update " in line:
            continue
        for value in set(re.findall(r"%[A-Za-z0-9_]+", line.split(" = ", 1)[-1])):
            if value in values and " ds.read " not in line:
                counts[values[value]] += 1
    return counts


def collectives(placed, parts):
    """(kind, elements put in or out, times per step, parameter that is gathered or None) of each collective."""
    found, source, depth = [], {}, 0
    for line in placed.splitlines():
        depth += " scf.for " in line
        depth -= " scf.yield" in line
        read = re.search(r"(%\S+) = ds\.read @(\S+) ", line)
        if read:
            source[read.group(1)] = read.group(2)
        fence = re.search(r"(%\S+) = ds\.fence (%\S+) id", line)
        if fence and fence.group(2) in source:
            source[fence.group(1)] = source[fence.group(2)]
        cast = re.search(r"ds\.(all_gather|reduce_scatter|all_reduce) (%\S+) over \"dp\" : (tensor<.*>) -> tensor<", line)
        if cast:
            found.append((cast.group(1), elements(cast.group(3)), parts if depth else 1, source.get(cast.group(2))))
    return found


def planned(text):
    return {kind: int(count) for kind, count in re.findall(r"^  (\w+)\s+over dp\s+\d+ calls\s+(\d+) elements", text, re.M)}


def require(holds, message):
    if not holds:
        sys.exit("error: " + message)


def main():
    folder, ranks, parts, prefix = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    with open(folder + "/ds_config.json") as file:
        config = json.load(file)
    config["gradient_accumulation_steps"] = parts
    with open(prefix + ".json", "w") as file:
        json.dump(config, file)
    common = ["ds-compile", folder + "/train.onnx", "--config", prefix + ".json", "--ranks", str(ranks), "--dim", "sequence=32"]
    program = run(*common, "--emit=program")
    sizes, used = parameters(program), uses(program)
    total = sum(sizes.values())
    require(total > 0 and all(size % ranks == 0 for size in sizes.values()), "the model must have parameters that divide by the ranks")
    share = (ranks - 1) * total // ranks
    for stage in range(4):
        flags = common + ["--zero-stage=%d" % stage]
        casts = collectives(run(*flags, "--emit=placement"), parts)
        run(*flags, "-o", prefix + ".dsplan")
        plan = planned(run("ds-run", "inspect", prefix + ".dsplan"))

        counted = collections.Counter()
        for kind, size, times, _ in casts:
            factor = 2 if kind == "all_reduce" else 1
            counted[kind] += factor * (ranks - 1) * size * times / ranks
        for kind in ("all_gather", "reduce_scatter", "all_reduce"):
            require(abs(plan.get(kind, 0) - counted[kind]) < 1, "stage %d: the plan receives %d elements in %s, the program %g"
                    % (stage, plan.get(kind, 0), kind, counted[kind]))

        gathers = collections.Counter(name for kind, _, _, name in casts if kind == "all_gather" and name)
        gathered = sum(sizes[name] * count for name, count in gathers.items()) * parts * (ranks - 1) // ranks
        expected = {0: (0, 0), 1: (share, share), 2: (parts * share, share), 3: (parts * share, gathered)}[stage]
        require(counted["reduce_scatter"] == expected[0], "stage %d: must reduce-scatter %d elements, got %g" % (stage, expected[0], counted["reduce_scatter"]))
        require(counted["all_gather"] == expected[1], "stage %d: must all-gather %d elements, got %g" % (stage, expected[1], counted["all_gather"]))
        reduced = counted["all_reduce"] - (2 * share if stage == 0 else 0)
        require(0 <= reduced <= SCALARS, "stage %d: must all-reduce scalars alone beside the gradients, got %g elements" % (stage, reduced))
        if stage == 3:
            for name in sizes:
                require(1 <= gathers[name] <= used[name], "%s must be gathered 1 to %d times per part, got %d" % (name, used[name], gathers[name]))
            require(expected[0] + expected[1] <= 3 * parts * share, "stage 3 must receive at most 3mP elements, got %d of %d" % (sum(expected), 3 * parts * share))
        print("stage", stage, "receives", " ".join("%s %d" % (kind, plan[kind]) for kind in sorted(plan)))


main()
