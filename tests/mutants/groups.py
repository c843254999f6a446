"""Which tests concern which faults: by group, the runs of pytest, the quickest and most revealing first."""

from __future__ import annotations

from .run import Step

ENVIRONMENTS: Step = ("tests/test_env.py", "tests/test_vector.py")
VECTORS: Step = ("tests/reference/test_vectors.py",)
PATHS: Step = ("tests/reference/test_graph_cases.py", "tests/reference/test_paths.py")
SHAPING: Step = ("tests/reference/test_shaping.py",)
REWARDS: Step = ("tests/reference/test_rewards.py",)
EPISODES: Step = ("tests/reference/test_info.py", "tests/reference/test_episodes.py")
GRAPHS: Step = ("tests/reference/test_graph_cases.py", "tests/reference/test_graph.py")
LAYOUTS: Step = (
    "tests/reference/test_layouts.py",
    "tests/reference/test_decoding.py",
    "tests/reference/test_packing.py",
)
GOLDEN: Step = ("tests/sim/test_golden.py",)
STILL: Step = ("tests/sim/test_reach.py", "tests/sim/test_entities.py")
MOVING: Step = ("tests/sim/test_pushes.py", "tests/sim/test_movers.py", "tests/sim/test_death_balls.py")
LASERS: Step = ("tests/sim/test_lasers.py",)
SHOOTERS: Step = (
    "tests/sim/test_shooters.py",
    "tests/sim/test_rockets.py",
    "tests/sim/test_gauss_turrets.py",
    "tests/sim/test_gun_drones.py",
    "tests/sim/test_sight.py",
    "tests/sim/test_shooters_reading.py",
)
HUNTERS: Step = ("tests/sim/test_hunters.py", "tests/sim/test_hunters_reading.py")
NINJA: Step = ("tests/sim/test_ninja.py", "tests/sim/test_wall_tables.py")
BEAMS: Step = ("tests/reference/test_frames.py", "-k", "beams")
THREADS: Step = ("tests/runtime/test_thread_pool.py", "-k", "not fork and not exit")
DECODED: Step = ("tests/rollouts/test_decoder.py", "tests/rollouts/test_large_batches.py")

GROUPS: dict[str, tuple[Step, ...]] = {
    "observe": (VECTORS,),
    "paths": (PATHS, SHAPING),
    "reward": (REWARDS, SHAPING, ("tests/reference/test_graph_cases.py", "-k", "potential")),
    "shaping": (SHAPING,),
    "graph": (
        GRAPHS,
        ("tests/reference/test_paths.py",),
        SHAPING,
        ("tests/graph/test_navigation.py", "tests/graph/test_images.py"),
    ),
    "graph-features": (GRAPHS,),
    "kept-graphs": (("tests/observe/test_kept_graphs.py",),),
    "frames": (
        ("tests/reference/test_frames.py",),
        ("tests/render/test_frames.py", "tests/render/test_tile_coverage.py"),
    ),
    "episodes": (EPISODES, REWARDS),
    "threads": (THREADS,),
    "layouts": (LAYOUTS, ENVIRONMENTS),
    "buffers": (LAYOUTS,),
    "decoder": (LAYOUTS, DECODED),
    "packing": (LAYOUTS, ("tests/rollouts/test_packing.py", "tests/rollouts/test_state_store.py")),
    "levels": (
        ("tests/level/test_pack.py", "tests/level/test_model.py", "tests/level/test_doubts.py"),
        ("tests/level/test_pack_files.py",),
    ),
    "entities": ((*STILL, *MOVING), GOLDEN, LASERS),
    "lasers": (LASERS, BEAMS),
    "shooters": (SHOOTERS,),
    "hunters": (HUNTERS,),
    "induction": (
        ("tests/induction/test_two_phases.py", "-k", "random or power"),
        ("tests/induction/test_optimal.py",),
    ),
    "induction-store": (
        (
            "tests/induction/test_store.py",
            "tests/induction/test_building.py",
            "-k",
            "hash or known or numbers or damage or killed",
        ),
    ),
    "sim": (GOLDEN, (*NINJA, *STILL, *MOVING), LASERS),
}
