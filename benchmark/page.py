# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""The generated parts of docs/performance.md: the text between <!-- begin SUITE --> and <!-- end SUITE -->."""
import re

import chart
import limits
import setting
import table

DOCS = setting.ROOT / "docs"


def _run_line(result):
    """One run: its command, date and limits."""
    measured, best = result["limits"], result["limits"]["best"]
    steadiness = "steady" if measured["is_steady"] else "not steady"
    return ("* `%s`, %s, %s: limits moved by at most %.0f %%; FMA %.0f GFLOP/s on one core, %.0f on two; copy %.1f GB/s at "
            "8 MiB, %.1f at 128 MiB (bytes read and written); AdamW loop %.2f G parameters/s" % (
                result["command"], result["date"], steadiness, 100 * measured["drift"], best["fma_flops_1"] / 1e9,
                best["fma_flops_2"] / 1e9, limits.copy_rate(measured, 8) / 1e9, limits.copy_rate(measured, 128) / 1e9,
                best["adamw_parameters"] / 1e9))


def _machine_line(result):
    machine = result["machine"]
    versions = ", ".join("%s %s" % pair for pair in sorted(result["versions"].items()))
    return "On %d cores of %s, %.0f GiB, Linux %s; %s." % (machine["cores"], machine["processor"], machine["memory_gib"],
                                                        machine["kernel"], versions)


def _part(name, suite, results):
    rows = [row for result in results for row in result["rows"]]
    return "\n\n".join([_machine_line(results[-1]), table.markdown(suite.COLUMNS, rows),
                        "\n".join("* " + note for note in suite.notes(rows)),
                        "The runs:\n\n" + "\n".join(map(_run_line, results)),
                        "![%s](performance-%s.svg)" % (suite.CHART["title"], name)])


def _draw(name, suite, rows):
    value = suite.CHART["value"]
    shown = [row for row in rows if row.get(value) is not None]
    picture = chart.draw(suite.CHART["title"], [row["name"] for row in shown], [row[value] for row in shown],
                         suite.CHART["bar"])
    (DOCS / ("performance-%s.svg" % name)).write_text(picture)


def update(name, suite, results):
    """Rewrites a suite's part of the page, and its chart, from the results of its parts."""
    results = [results[part] for part in suite.PARTS if part in results]
    path = DOCS / "performance.md"
    begin, end = "<!-- begin %s -->" % name, "<!-- end %s -->" % name
    text, count = re.subn("%s.*?%s" % (begin, end),
                          lambda _: "%s\n\n%s\n\n%s" % (begin, _part(name, suite, results), end),
                          path.read_text(), flags=re.S)
    if count != 1:
        setting.fail("%s must have one part between %s and %s, got %d" % (path, begin, end, count))
    path.write_text(text)
    _draw(name, suite, [row for result in results for row in result["rows"]])
    print("wrote %s" % path)
