# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""A bar chart as SVG: one bar per row, and a line where the bar to be met is."""
import html

WIDTH, LABELS, LINE, TOP = 760, 230, 20, 46
GOOD, SHORT = "#3b7a57", "#b5543a"


def _scale(values, bar):
    return (WIDTH - LABELS - 70) / max(values + [bar * 1.1])


def _row(index, label, value, bar, scale):
    y = TOP + index * LINE
    color = GOOD if value >= bar else SHORT
    return ('<text x="%d" y="%d" text-anchor="end">%s</text>\n'
            '<rect x="%d" y="%d" width="%.1f" height="14" fill="%s"/>\n'
            '<text x="%.1f" y="%d">%.2f</text>') % (
                LABELS - 8, y + 12, html.escape(label), LABELS, y, value * scale, color,
                LABELS + value * scale + 5, y + 12, value)


def draw(title, labels, values, bar):
    """The picture as text. Values below `bar` are drawn in another colour."""
    scale = _scale(values, bar)
    height = TOP + LINE * len(values) + 14
    at = LABELS + bar * scale
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">'
             % (WIDTH, height), '<rect width="100%" height="100%" fill="white"/>',
             '<text x="10" y="20" font-size="14">%s</text>' % html.escape(title)]
    lines += [_row(i, label, value, bar, scale) for i, (label, value) in enumerate(zip(labels, values))]
    lines += ['<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="black" stroke-dasharray="4 3"/>'
              % (at, TOP - 12, at, height - 8),
              '<text x="%.1f" y="%d" text-anchor="middle">%g</text>' % (at, TOP - 14, bar), "</svg>"]
    return "\n".join(lines) + "\n"
