"""Keep results of `pippin benchmark`, and draw what the page *Ten solvers in one diagram* shows of them.

`uv run --group dev python docs/draw_benchmark.py FOLDER...`: results replace what `docs/reference/benchmark.csv` has of
the same solvers in the same problems. `docs/write_reference.py` writes the page *Physics checks* from that file.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # the tests run this file from elsewhere

import attrs
from diagram import diagram
from pippin.report import Markup, element
from pippin_benchmark.result import Benchmark, BenchmarkRow
from reference_pages import measured

ROOT = Path(__file__).parent

DRAWN = {
    "ten_solvers.svg": ("large-pendulum", "double-pendulum", "free-top", "four-bar", "sliding-block", "stack"),
    "ten_solvers_matter.svg": ("hanging-cloth", "quadruped-drop"),
}
"""Problems of each image."""

COLORS = ("#2f6fd0", "#e0701a", "#2a9a4a", "#c9342f", "#8a55c4", "#8d5f4a", "#d0549f", "#6b7480", "#a8930a", "#1597a8")

WIDTH, HEIGHT, TITLE, LEGEND = 440, 300, 26, 22


def keep(folders: list[Path]) -> None:
    """Put the results of folders in place of what is kept of the same solvers in the same problems."""
    rows: dict[tuple[str, str], list[BenchmarkRow]] = {}
    for file in [*([measured.KEPT] if measured.KEPT.exists() else []), *(each / "benchmark.csv" for each in folders)]:
        own: dict[tuple[str, str], list[BenchmarkRow]] = {}
        for row in measured.read(file):
            row = attrs.evolve(row, solver=measured.short_name(row.solver))
            own.setdefault((row.name, row.problem), []).append(row)
        rows |= own
    kept = [row for key in sorted(rows) for row in rows[key]]
    measured.KEPT.write_text(measured.text_of(kept), encoding="utf-8")


def drawing(found: Benchmark, problems: Sequence[str]) -> Markup:
    """Return the diagrams side by side, with a legend, as one file."""
    lines = {
        problem: {
            each.name: [(row.cost, max(row.error, 1e-9)) for row in each.finished if row.cost and row.error is not None]
            for each in found.series(problem)
            if each.finished
        }
        for problem in problems
    }
    names = sorted({name for each in lines.values() for name in each})
    colors = {name: index for index, name in enumerate(names)}
    parts = [element("style", style()), element("rect", width="100%", height="100%", fill="#ffffff")]
    for index, problem in enumerate(problems):
        x, y = (index % 2) * WIDTH, (index // 2) * (HEIGHT + TITLE)
        unit = found.problems[problem].unit
        drawn = diagram(
            lines[problem],
            colors,
            "cost of a simulated second [s]",
            "relative error" if unit == "1" else f"error [{unit}]",
        )
        placed = drawn.replace("<svg", f'<svg x="{x}" y="{y + TITLE}" width="{WIDTH}" height="{HEIGHT}"', 1)
        parts += [element("text", problem, x=x + 58, y=y + 18, class_="title"), Markup(placed)]
    top = (len(problems) + 1) // 2 * (HEIGHT + TITLE) + 18
    for index, name in enumerate(names):
        x, y = 20 + (index % 4) * 215, top + (index // 4) * LEGEND
        parts += [
            element(
                "line",
                x1=x,
                x2=x + 24,
                y1=y - 4,
                y2=y - 4,
                stroke=f"var(--c{index % 10})",
                stroke_width=2.5,
                stroke_dasharray=("", "5 3", "2 3")[index // 10 % 3] or None,
            ),
            element("text", name, x=x + 30, y=y),
        ]
    height = top + (len(names) + 3) // 4 * LEGEND
    head = {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {2 * WIDTH} {height}"}
    return element("svg", *parts, **head)


def style() -> Markup:
    """Return the style of the file."""
    variables = "".join(f"--c{index}:{color};" for index, color in enumerate(COLORS))
    return Markup(
        f"svg{{{variables}font:11px sans-serif}}text{{fill:#5f6b7d}}.grid{{stroke:#e9ecf1}}"
        ".title{font-weight:600;font-size:13px;fill:#1b2230}"
    )


def main(folders: list[Path]) -> None:
    """Keep the results, and write the images."""
    keep(folders)
    found = measured.kept()
    for name, problems in DRAWN.items():
        (ROOT / "images" / name).write_text(drawing(found, problems), encoding="utf-8")


if __name__ == "__main__":
    main([Path(each) for each in sys.argv[1:]])
