#!/usr/bin/env python3
# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""check_pages.py sentences|notes|tables SOURCE_DIR: checks of what is written for people. Prints each fault, exit code 1 if
there is one.

sentences  README.md and docs/*.md have no sentence of more than 35 words; tables, code and what is generated are left out
notes      docs/design-notes/ has pages named by a date, each ending with what was rejected; history stands nowhere else
tables     tables in comments have the same number of columns in each row: a formatter that reflows one breaks that
"""

import pathlib
import re
import sys

MOST_WORDS = 35
GENERATED = {"config.md"}
SOURCES = (".h", ".cpp", ".c", ".td", ".fbs")


def paragraphs(text):
    """Runs of prose with the number of their first line: no code blocks, tables, headings, or charts; a list item is one."""
    run, first = [], 0
    is_code = is_generated = False
    for number, line in enumerate(text.splitlines() + [""], 1):
        is_code ^= line.startswith("```")
        if line.startswith("<!-- "):
            is_generated = line.startswith("<!-- begin")
        ends = not line.strip() or line.startswith(("    ", "|", "#", "<!--", "!", "```")) or is_code or is_generated
        if (ends or re.match(r" *(\*|\d+\.) ", line)) and run:
            yield first, " ".join(run)
            run = []
        if not ends:
            first = first if run else number
            run.append(line.strip())


def sentences(paragraph):
    plain = re.sub(r"`[^`]*`", "`code`", paragraph)  # one word, with no period inside
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", plain)
    return re.split(r"(?<=[.!?:;])\)?\s+(?=[A-Z`*\"(])", plain)


def words(sentence):
    return len(re.findall(r"[\w`][\w`'.,/+-]*", sentence))


def sentence_faults(root):
    for page in sorted([root / "README.md", *(root / "docs").glob("*.md")]):
        if page.name in GENERATED:
            continue
        for line, paragraph in paragraphs(page.read_text()):
            for sentence in sentences(paragraph):
                if words(sentence) > MOST_WORDS:
                    yield f"{page}:{line}: a sentence must have at most {MOST_WORDS} words, got {words(sentence)}: {sentence[:70]}..."


def note_faults(root):
    for page in sorted((root / "docs/design-notes").glob("*")):
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}-[a-z0-9-]+\.md", page.name):
            yield f"{page}: must be named YYYY-MM-DD-what.md"
        headings = re.findall(r"^## (.*)$", page.read_text(), re.MULTILINE)
        if not headings or headings[-1] != "Rejected":
            yield f'{page}: must end with a section "Rejected"'


def columns(row):
    return len(row.replace("\\|", "").strip().strip("|").split("|"))


def table_faults(root):
    for folder in ("include", "lib", "tools", "test/Unit", "benchmark"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SOURCES:
                continue
            expected = None
            for number, line in enumerate(path.read_text().splitlines(), 1):
                row = re.match(r"\s*//[/!]?<? *(\|.*)$", line)
                if not row:
                    expected = None
                    continue
                if expected is None:
                    expected = columns(row[1])
                if not row[1].rstrip().endswith("|") or columns(row[1]) != expected:
                    yield f"{path}:{number}: a row must have the {expected} columns of the table's first row, each closed"


def main(check, root):
    checks = {"sentences": sentence_faults, "notes": note_faults, "tables": table_faults}
    faults = list(checks[check](pathlib.Path(root)))
    print("\n".join(faults or [f"{check}: ok"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
