"""Memory profiling: who holds which bytes, and whether anything grows.

Nothing here imports torch, tensorboard, matplotlib or Stable-Baselines3 by itself. The callback for
Stable-Baselines3 is `npp_env.profiling.sb3.MemoryCallback`.
"""

from __future__ import annotations

from npp_env.profiling.callbacks import LoopCallback, memory_scalars, tensorboard_writer
from npp_env.profiling.compare import Comparison, ProfileFigures, compare, load_profile
from npp_env.profiling.errors import LowMemoryError, ProfilingError, SnapshotError
from npp_env.profiling.growth import GrowthFit, Verdict, fit_growth, fit_speed_drift
from npp_env.profiling.guard import GuardAction, MemoryGuard
from npp_env.profiling.phases import PhaseGrowth, PhaseLedger, PhaseReport
from npp_env.profiling.profile import Profile
from npp_env.profiling.run import ProfileResult, profile_loop
from npp_env.profiling.samples import Sample, SampleLog
from npp_env.profiling.snapshots import SnapshotSeries, read_snapshots, write_snapshot
from npp_env.profiling.tracker import MemoryTracker
from npp_env.runtime.memory import Holding, MemoryReport, OwnerTotal

__all__ = [
    "Comparison",
    "GrowthFit",
    "GuardAction",
    "Holding",
    "LoopCallback",
    "LowMemoryError",
    "MemoryGuard",
    "MemoryReport",
    "MemoryTracker",
    "OwnerTotal",
    "PhaseGrowth",
    "PhaseLedger",
    "PhaseReport",
    "Profile",
    "ProfileFigures",
    "ProfileResult",
    "ProfilingError",
    "Sample",
    "SampleLog",
    "SnapshotError",
    "SnapshotSeries",
    "Verdict",
    "compare",
    "fit_growth",
    "fit_speed_drift",
    "load_profile",
    "memory_scalars",
    "profile_loop",
    "read_snapshots",
    "tensorboard_writer",
    "write_snapshot",
]
