"""Which tests concern which faults: by group, the runs of pytest, the quickest and most revealing first."""

from __future__ import annotations

from .run import Step

# Tests that compare the package with itself uncompiled hold the same fault on both sides, and cost most.
COMPILED_ONLY = ("-k", "not uncompiled")

DECODED: Step = ("tests/observe/test_precision.py", "tests/test_decoder.py", *COMPILED_ONLY)
EPISODES: Step = ("tests/test_reward.py", "tests/test_several_exits.py")
ENVIRONMENTS: Step = ("tests/test_env.py", "tests/test_vector.py", *COMPILED_ONLY)

GROUPS: dict[str, tuple[Step, ...]] = {
    "observe": (DECODED, ENVIRONMENTS),
    "reward": (EPISODES, ENVIRONMENTS),
    "graph": (("tests/graph", "tests/test_several_exits.py"),),
    "graph-features": (DECODED, ENVIRONMENTS),
    "frames": (("tests/render/test_frames.py", "tests/render/test_tile_coverage.py"), ENVIRONMENTS),
    "episodes": (EPISODES, ENVIRONMENTS),
    "decoder": (("tests/test_decoder.py", *COMPILED_ONLY),),
    "packing": (("tests/test_packing.py",),),
    "sim": (
        ("tests/sim/test_entities.py", "tests/sim/test_movers.py", "tests/sim/test_golden.py"),
        ("tests/sim/test_state.py", "tests/sim/test_history.py", "tests/sim/test_fuzz.py"),
    ),
}
