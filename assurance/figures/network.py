#!/usr/bin/env python3
"""Draws docs/images/network.svg from the first table under "Over a network" in docs/results.md.

    python3 assurance/figures/network.py > docs/images/network.svg

After a new measurement, update the table and run this.
"""

import math
from pathlib import Path

RESULTS = Path(__file__).parents[2] / "docs/results.md"
LEFT, RIGHT, TOP, ROW, WIDTH = 150, 30, 70, 34, 720
# Colours that differ by lightness as well as by hue; shapes that differ without colour.
SHAPES = ["circle", "square", "triangle"]


def table():
    """Connections, and the seconds of each engine."""
    text = RESULTS.read_text(encoding="utf-8").split("## Over a network", 1)[1]
    rows = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[:5]]
    return cells[0][1:], {row[0]: [float(cell) for cell in row[1:]] for row in cells[2:]}


def mark(shape, x, y):
    """A data point of about 12 pixels."""
    if shape == "circle":
        return f'<circle class="{shape}" cx="{x:.1f}" cy="{y}" r="6"/>'
    if shape == "square":
        return f'<rect class="{shape}" x="{x - 5.5:.1f}" y="{y - 5.5}" width="11" height="11"/>'
    return f'<path class="{shape}" d="M{x:.1f} {y - 7}l7 12h-14z"/>'


def main():
    connections, engines = table()
    values = [value for row in engines.values() for value in row]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    height = TOP + ROW * len(connections) + 40

    def place(value):
        return LEFT + (math.log10(value) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="13" role="img">',
        "<title>Time by connection for each engine</title>",
        "<style>.paper{fill:#fff}text{fill:#222}.line{stroke:#ccc}.circle{fill:#1b6ca8}.square{fill:#d9822b}.triangle{fill:#6b7280}"
        "@media(prefers-color-scheme:dark){.paper{fill:#16181d}text{fill:#e6e6e6}.line{stroke:#444}.circle{fill:#6db7f2}"
        ".square{fill:#f5a95c}.triangle{fill:#a8b0bd}}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{height}" rx="6"/>',
    ]
    x = LEFT
    for shape, engine in zip(SHAPES, engines):
        label = engine if engine != "paillier" else "paillier (4 comparisons of 20 × 20)"
        out.append(mark(shape, x, 22) + f'<text x="{x + 12}" y="26">{label}</text>')
        x += 130
    bottom = TOP + ROW * len(connections) - ROW / 2
    for power in range(low, high + 1):
        for step in (1, 2, 5):
            value = step * 10.0**power
            if value <= 10.0**high:
                at = place(value)
                out.append(f'<line class="line" x1="{at:.1f}" y1="{TOP - 22}" x2="{at:.1f}" y2="{bottom:.0f}"/>')
                out.append(f'<text x="{at:.1f}" y="{bottom + 18:.0f}" text-anchor="middle">{value:g}</text>')
    out.append(f'<text x="{WIDTH / 2:.0f}" y="{height - 6}" text-anchor="middle">seconds for 100 comparisons of 100 × 100 letters</text>')
    for index, connection in enumerate(connections):
        y = TOP + ROW * index
        out.append(f'<text x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{connection}</text>')
        for shape, row in zip(SHAPES, engines.values()):
            out.append(mark(shape, place(row[index]), y))
    print("\n".join(out) + "\n</svg>")


main()
