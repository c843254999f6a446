"""Check an installed npp_env, from a folder that holds no copy of its sources."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

warnings.simplefilter("error", RuntimeWarning)


def main() -> int:
    """Import, shipped levels, a simulation, the command; returns the exit code."""
    import npp_env
    from npp_env.level.shipped import load_shipped, shipped_level_names
    from npp_env.sim import RIGHT, Simulation

    folder = Path(npp_env.__file__).parent
    assert "site-packages" in folder.parts, f"imported from {folder}, not from the installed package"
    assert (folder / "py.typed").exists(), "py.typed is missing"
    assert (folder / "sim" / "layout.pxd").exists(), "the .pxd files are missing"
    names = shipped_level_names()
    assert names, "no shipped levels"
    for name in names:
        load_shipped(name)
    simulation = Simulation(load_shipped("first_steps/walk"))
    before = float(simulation.ninja["x"])
    assert simulation.advance(RIGHT, 60) == 60
    assert simulation.ninja["x"] > before + 30, "the ninja does not run"
    for command in ([str(Path(sys.executable).parent / "npp-env")], [sys.executable, "-m", "npp_env"]):
        listed = subprocess.run([*command, "levels", "list"], capture_output=True, text=True, check=True).stdout
        assert all(name in listed for name in names), f"{command} does not list the levels"
    print(f"installed npp_env {npp_env.__version__}: {len(names)} levels, runs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
