"""Every state that the kernel makes is valid, and every number that it cannot make is refused by name."""

from __future__ import annotations

import subprocess
import sys
from itertools import islice

import numpy as np
import pytest
from golden_levels import golden

from npp_env.errors import StateError
from npp_env.level import read_map
from npp_env.level.shipped import load_shipped, shipped_level_names
from npp_env.sim import Simulation
from npp_env.sim.structs import CELLS, MOVER, NINJA
from npp_env.sim.validity import check_state
from sim.damage import restore_forged
from sim.fuzz_maps import SIMULATED, accepted_levels, crowded_map, random_inputs
from sim.rooms import STAND, level_of_every_type, room

NAN, INF = float("nan"), float("inf")
FAR, FAST = 1.01e9, 1.01e7


def check(simulation: Simulation) -> None:
    check_state(simulation.handle, simulation.state)


# What the kernel makes.


def test_all_states_of_the_golden_runs_are_valid():
    for run in golden():
        simulation = Simulation(read_map(run.map))
        for byte in run.inputs.tolist():
            simulation.advance(byte, 1, stop=False)
            check(simulation)


def test_all_states_of_random_play_on_shipped_levels_are_valid():
    rng = np.random.default_rng(0)
    for name in shipped_level_names():
        simulation = Simulation(load_shipped(name))
        check(simulation)
        for byte in random_inputs(rng, 1500):
            for _ in range(10):
                simulation.advance(byte, 1, stop=False)
                check(simulation)


@pytest.mark.parametrize("seed", range(4))
def test_all_states_of_hostile_maps_are_valid(seed):
    rng = np.random.default_rng(1000 + seed)
    for level in islice(accepted_levels(rng, [run.map for run in golden()]), 60):
        simulation = Simulation(level)
        check(simulation)
        for byte in random_inputs(rng, 300):
            for _ in range(10):
                simulation.advance(byte, 1, stop=False)
                check(simulation)


@pytest.mark.parametrize("kind", SIMULATED)
def test_all_states_of_crowds_are_valid(kind):
    simulation = Simulation(read_map(crowded_map(kind)))
    for byte in (0, 2, 3, 3, 4, 4):
        simulation.advance(byte, 1, stop=False)
        check(simulation)


# What it cannot make: by field of the ninja.

NINJA_FAULTS = {
    **dict.fromkeys(("x", "y"), (NAN, INF, -INF, FAR, -FAR)),
    **dict.fromkeys(("vx", "vy"), (NAN, INF, -INF, FAST, -FAST)),
    **dict.fromkeys(("wn", "fnx", "fny", "cnx", "cny", "pnx", "pny"), (NAN, INF, 1.001, -1.001)),
    "g": (NAN, 0.0, 1.0, 0.067),
    "drag": (NAN, 0.0, 1.0, 0.9),
    "fraction": (NAN, -0.1, 1.1),
    "frame": (-1, 2**31 - 1, -(2**31)),
    "stamp": (-1, 2**31 - 1),
    "gold": (-1, 1, 2**31 - 1),
    "arming": (-1, 1, 2**31 - 1),
    "switches": (-1, 1, 127),
    "state": (-128, -1, 10, 127),
    "air": (-1, 2),
    "walled": (-1, 2),
    "h": (-2, 2),
    "jump_prev": (-1, 2),
    "hold": (-1, 47, 127),
    "b_jump": (-2, 6),
    "b_floor": (-2, 6),
    "b_wall": (-2, 6),
    "b_pad": (-2, 4),
    "reserved": (1,),
    "followers": (-1, 0, 2, 2**31 - 1),
}


def test_every_field_of_the_ninja_has_faults_here():
    assert set(NINJA_FAULTS) == set(NINJA.names)


@pytest.mark.parametrize(("field", "values"), NINJA_FAULTS.items())
def test_a_ninja_that_cannot_be_is_refused_by_name(field, values):
    simulation = Simulation(level_of_every_type())
    simulation.advance(2, 5)
    before = simulation.get_state()
    for value in values:
        forged = simulation.state.copy()
        forged[: NINJA.itemsize].view(NINJA)[field] = value
        with pytest.raises(StateError, match=f"no valid state of its level: {field} of the ninja is"):
            restore_forged(simulation, forged)
        assert simulation.get_state() == before


# By kind of entity: (x, y of the record), what its mover may not be. `u` and `v` have other names in each family.

ANY_MOVER = [
    ("x", NAN),
    ("x", FAR),
    ("y", -INF),
    ("u", NAN),
    ("v", INF),
    ("cell", -2),
    ("cell", CELLS),
    ("cell", 32767),
]
MOVER_FAULTS: dict[int, list[tuple[str, float]]] = {
    12: [("phase", -1), ("phase", 4), ("turn", -1), ("turn", 4), ("cell", 3), ("stamp", 52)],
    13: [("phase", -1), ("phase", 4), ("phase", 0), ("turn", -1), ("turn", 4), ("cell", 3), ("stamp", 45)],
    14: [("phase", 1), ("turn", -1), ("turn", 4), ("cell", -1)],
    15: [("phase", -1), ("phase", 2), ("turn", -1), ("turn", 4), ("cell", -1)],
    16: [("phase", -2), ("phase", 2), ("turn", 1), ("u", 1.0), ("v", 1.0), ("y", 3.0), ("cell", -1)],
    17: [("phase", 1), ("turn", 1), ("u", FAST), ("v", -FAST), ("cell", -1)],
    18: [("phase", 1), ("turn", -1), ("turn", 15), ("x", 481.0), ("y", 0.0), ("u", 1.0), ("v", 1.0), ("cell", 3)],
    19: [("phase", -1), ("phase", 4), ("phase", 0), ("turn", 1), ("x", 481.0), ("y", 0.0), ("cell", 3), ("stamp", 181)],
    20: [("phase", -2), ("phase", 2), ("turn", 1), ("u", 1.0), ("v", 1.0), ("y", 3.0), ("cell", -1)],
    22: [("phase", -1), ("phase", 2), ("phase", 3), ("phase", 4), ("turn", 1), ("x", 481.0), ("u", 1.0), ("v", 1.0)],
    23: [("phase", 0), ("phase", 2), ("phase", -128), ("turn", 1), ("u", 1001.0), ("v", -1001.0), ("cell", 3)],
    25: [("phase", 1), ("turn", 1), ("u", FAST), ("v", -FAST), ("cell", -1)],
    26: [("phase", 1), ("turn", -1), ("turn", 4), ("cell", -1)],
    28: [("phase", -1), ("phase", 4), ("turn", -1), ("turn", 2), ("u", 0.5), ("v", 2.0), ("cell", -1)],
}
FLAG_FAULTS = {
    1: (3, 255),
    2: (2, 255),
    5: (2, 4, 13, 64, 255),
    6: (1, 2, 4, 64),
    8: (0, 3, 4, 64),
    21: (3, 255),
    24: (2, 255),
}
NEEDS_SWITCH = {6: 7, 8: 9}


def test_every_kind_with_state_has_faults_here():
    assert {*MOVER_FAULTS, *FLAG_FAULTS, 3} == {kind for kind in SIMULATED if kind not in (10, 11)}


@pytest.mark.parametrize("kind", MOVER_FAULTS)
def test_a_mover_that_cannot_be_is_refused(kind):
    simulation = Simulation(room((kind, 80, 40)))
    simulation.advance(2, 5)
    before = simulation.get_state()
    for field, value in [*ANY_MOVER, *MOVER_FAULTS[kind], ("stamp", -1), ("stamp", 10**6)]:
        forged = simulation.state.copy()
        forged[NINJA.itemsize : NINJA.itemsize + MOVER.itemsize].view(MOVER)[field] = value
        with pytest.raises(StateError, match=r"no valid state of its level: .* of the .* at \(480, 240\) is"):
            restore_forged(simulation, forged)
        assert simulation.get_state() == before, (field, value)


@pytest.mark.parametrize("field", ["x", "u", "v", "cell", "phase", "turn", "stamp"])
def test_the_second_mover_of_a_laser_is_checked(field):
    simulation = Simulation(room((23, 80, 40)))
    forged = simulation.state.copy()
    second = NINJA.itemsize + MOVER.itemsize
    forged[second : second + MOVER.itemsize].view(MOVER)[field] = FAR if field == "x" else 1
    with pytest.raises(StateError, match="of the laser-turret at"):
        restore_forged(simulation, forged)


@pytest.mark.parametrize("field", ["x", "y", "u", "v", "cell", "phase", "turn", "stamp"])
@pytest.mark.parametrize("kind", [12, 13])
def test_the_line_of_fire_of_a_drone_is_checked(kind, field):
    simulation = Simulation(room((kind, 80, 40)))
    second = NINJA.itemsize + MOVER.itemsize
    for ticks in (0, 3, 60, 100):
        simulation.advance(0, ticks, stop=False)
        forged = simulation.state.copy()
        forged[second : second + MOVER.itemsize].view(MOVER)[field] = 2
        with pytest.raises(StateError, match=r"of the (chaingun|laser)-drone at"):
            restore_forged(simulation, forged)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("turn", 25),
        ("turn", -1),
        ("u", 0.5),
        ("v", NAN),
        ("cell", -1),
        ("cell", 0),
        ("phase", 1),
        ("stamp", 0),
        ("x", 9.0),
    ],
)
def test_a_rocket_in_flight_is_checked(field, value):
    simulation = Simulation(room((18, 80, 40)))
    simulation.advance(0, 40)
    assert simulation.flags[0] == 2
    restore_forged(simulation, simulation.state.copy())
    forged = simulation.state.copy()
    forged[NINJA.itemsize : NINJA.itemsize + MOVER.itemsize].view(MOVER)[field] = value
    with pytest.raises(StateError, match="of the rocket-turret at"):
        restore_forged(simulation, forged)


@pytest.mark.parametrize("flag", [0, 1, 3, 255])
def test_the_phase_of_a_rocket_turret_fits_its_rocket(flag):
    simulation = Simulation(room((18, 80, 40)))
    simulation.advance(0, 40)
    forged = simulation.state.copy()
    forged[NINJA.itemsize + MOVER.itemsize] = flag
    with pytest.raises(StateError, match="of the rocket-turret at"):
        restore_forged(simulation, forged)


@pytest.mark.parametrize(
    ("ticks", "field", "value"),
    [
        (5, "u", 0), (5, "u", 2), (5, "u", 1.5), (5, "u", -1), (5, "v", 5), (5, "v", 120), (5, "v", 125),
        (5, "v", 121.5),
        (5, "phase", 1), (5, "phase", 3), (5, "x", 9.0), (5, "y", 9.0),
        (150, "u", 0), (150, "u", 2), (150, "v", 120), (150, "v", 151), (150, "v", 130.5), (150, "phase", 0),
        (150, "phase", 2), (150, "cell", -1), (150, "turn", 1),
    ],
)  # fmt: skip
def test_an_evil_ninja_with_a_number_is_checked(ticks, field, value):
    """Woken in the first tick, it starts in tick 121."""
    simulation = Simulation(room((22, 20, 78)))
    simulation.advance(2, ticks, stop=False)
    assert simulation.movers[0]["v"] == 121
    restore_forged(simulation, simulation.state.copy())
    forged = simulation.state.copy()
    forged[NINJA.itemsize : NINJA.itemsize + MOVER.itemsize].view(MOVER)[field] = value
    with pytest.raises(StateError, match=r"of the (evil-ninja at|ninja is)"):
        restore_forged(simulation, forged)


def test_the_past_of_the_ninja_is_checked():
    simulation = Simulation(room((22, 20, 78)))
    start = NINJA.itemsize + MOVER.itemsize
    for ticks, values in ((0, (NAN, 1.0, -1e-300)), (5, (NAN, INF, FAR, -FAR))):
        simulation.advance(2, ticks)
        for place in (0, 1, 2 * 119 + 1):
            for value in values:
                forged = simulation.state.copy()
                forged[start:].view("<f8")[place] = value
                with pytest.raises(StateError, match=f"past {'xy'[place % 2]} of the ninja"):
                    restore_forged(simulation, forged)


@pytest.mark.parametrize("kind", FLAG_FAULTS)
def test_a_flag_that_cannot_be_is_refused(kind):
    records = [(kind, 80, 40, 2), (NEEDS_SWITCH[kind], 90, 40)] if kind in NEEDS_SWITCH else [(kind, 80, 40)]
    simulation = Simulation(room(*records))
    before = simulation.get_state()
    for value in FLAG_FAULTS[kind]:
        forged = simulation.state.copy()
        forged[NINJA.itemsize] = value
        with pytest.raises(StateError, match="flag"):
            restore_forged(simulation, forged)
        assert simulation.get_state() == before


def test_counts_belong_to_what_they_count():
    simulation = Simulation(room((2, 80, 40), (21, 90, 40), (3, 100, 40), (4, 110, 40)))
    flags = NINJA.itemsize + MOVER.itemsize
    for flag, value, field in ((0, 1, "gold"), (1, 2, "arming")):
        forged = simulation.state.copy()
        forged[flags + flag] = value
        with pytest.raises(StateError, match=f"{field} of the ninja is 0; it must be 1"):
            restore_forged(simulation, forged)
        forged[: NINJA.itemsize].view(NINJA)[field] = 1
        restore_forged(simulation, forged)
        simulation.reset()


def test_an_exit_is_listed_exactly_if_its_switch_is_taken():
    simulation = Simulation(room((3, 100, STAND), (4, 22, STAND)))
    simulation.advance(2, 20)
    assert simulation.ninja["switches"] == 1
    taken = simulation.state.copy()
    check(simulation)
    for field, value in (("cell", -1), ("cell", 0), ("x", 0.0), ("y", 0.0), ("u", 1.0), ("phase", 1), ("turn", 1)):
        forged = taken.copy()
        forged[NINJA.itemsize : NINJA.itemsize + MOVER.itemsize].view(MOVER)[field] = value
        with pytest.raises(StateError, match=f"{field} of the exit at"):
            restore_forged(simulation, forged)
    simulation.reset()
    forged = simulation.state.copy()
    forged[NINJA.itemsize : NINJA.itemsize + MOVER.itemsize].view(MOVER)["cell"] = 5
    with pytest.raises(StateError, match=r"cell of the exit at .* it must be -1"):
        restore_forged(simulation, forged)


def test_padding_is_zero():
    simulation = Simulation(room((2, 80, 40)))
    for place in range(NINJA.itemsize + 1, NINJA.itemsize + 8):
        forged = simulation.state.copy()
        forged[place] = 1
        with pytest.raises(StateError, match="padding"):
            restore_forged(simulation, forged)


def test_a_state_of_another_size_is_refused():
    simulation = Simulation(room())
    for size in (0, NINJA.itemsize - 8, simulation.state.size + 8):
        with pytest.raises(StateError, match=f"has {size} bytes, its level needs {simulation.state.size}"):
            check_state(simulation.handle, np.zeros(size, np.uint8))
    odd = np.zeros(simulation.state.size + 1, np.uint8)[1:]
    odd[:] = simulation.state
    check_state(simulation.handle, odd)


# Whatever is written past the check ends.

LOOPS = """
import sys
import numpy as np
sys.path[:0] = {paths!r}
from npp_env.sim import Simulation
from sim.rooms import STAND, room

# The last half cell that an int can hold, and numbers beyond it.
LAST = 12.0 * 2**31 - 14
NUMBERS = (np.nan, np.inf, -np.inf, 1e300, -1e300, LAST, LAST - 24, -LAST, 24 - LAST, 1e17)
# The ninja out of reach of its guards; drones on their way; lasers on an axle and on a wall.
LEVEL = room((KIND, 60, STAND, 0, 0), (KIND, 71, 18, 2, 1), (KIND, 60, 50, 4, 2), walls=[(12, 19)])
for number in NUMBERS:
    for owner, fields in (("ninja", "x y vx vy"), ("movers", "x y u v"), ("movers", "xy uv")):
        for field in fields.split():
            for phases in ("as they are", 0, 1, -7):
                simulation = Simulation(LEVEL)
                simulation.advance(2, 3, stop=False)
                for name in (field,) if field in ("x", "y", "u", "v", "vx", "vy") else field:
                    getattr(simulation, owner)[name] = number
                if phases != "as they are":
                    simulation.movers["phase"] = phases
                    simulation.movers["turn"] = phases
                simulation.advance(3, 10, stop=False)
print("ended")
"""


@pytest.mark.parametrize("kind", MOVER_FAULTS)
def test_no_number_makes_the_kernel_loop_for_ever(kind):
    script = LOOPS.replace("KIND", str(kind)).format(paths=sys.path)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout == "ended\n", done.stderr
