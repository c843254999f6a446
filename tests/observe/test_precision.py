from __future__ import annotations

from pathlib import Path

from observe.precision import FIELDS, UNITS, worst_errors

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "observations.md"


def published() -> dict[tuple[str, str], float]:
    """The worst errors that the documentation promises, in units of the field."""
    found = {}
    for line in DOCUMENT.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and cells[0].startswith("`") and cells[0].strip("`") in FIELDS:
            scale, _ = UNITS.get(cells[1], (1, ""))
            found[cells[0].strip("`"), cells[1]] = float(cells[2].split()[0]) / scale
    return found


def test_errors_are_no_worse_than_published():
    promised = published()
    worst = worst_errors(steps=12)
    assert set(promised) == {(key, name) for key, names in FIELDS.items() for name in names}
    for place, error in worst.items():
        assert error <= promised[place] * 1.06 + 1e-12, place
    assert max(worst.values()) > 0
