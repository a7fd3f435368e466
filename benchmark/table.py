# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Rows as tables: for the terminal and for Markdown. A column is (title, key, format); a missing value is a dash."""


def cells(columns, rows):
    """The titles and, per row, the formatted values."""
    body = [[form % row[key] if row.get(key) is not None else "-" for _, key, form in columns] for row in rows]
    return [title for title, _, _ in columns], body


def text(columns, rows):
    titles, body = cells(columns, rows)
    widths = [max(len(line[i]) for line in [titles] + body) for i in range(len(titles))]
    return "\n".join("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                               for i, (cell, width) in enumerate(zip(line, widths))).rstrip()
                     for line in [titles] + body)


def markdown(columns, rows):
    titles, body = cells(columns, rows)
    rule = ["---"] + ["---:"] * (len(titles) - 1)
    return "\n".join("| " + " | ".join(line) + " |" for line in [titles, rule] + body)
