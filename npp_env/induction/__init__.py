"""Exact planning: backward induction over a finite horizon, on disk, for any model with finitely many actions."""

from __future__ import annotations

from npp_env.induction.adapters import EnvironmentModel, ExplicitModel, TableModel
from npp_env.induction.errors import (
    CyclicModelError,
    DamagedStoreError,
    DiskFullError,
    ForeignStoreError,
    InductionError,
)
from npp_env.induction.estimate import PlanEstimate, estimate_plan
from npp_env.induction.export import ExportReport, export_policies
from npp_env.induction.goals import Goals
from npp_env.induction.human import HumanParameters, HumanPolicyPrior, compute_human_policy_prior
from npp_env.induction.model import Expansion, KeyedModel, Model
from npp_env.induction.npp_model import KeyedNppModel, NppModel
from npp_env.induction.npp_plan import NppPlan, plan_level
from npp_env.induction.optimal import Objective, OptimalPolicy, compute_optimal_policy
from npp_env.induction.robot import RobotParameters, RobotPolicy, compute_robot_policy
from npp_env.induction.workspace import Resources

__all__ = [
    "CyclicModelError",
    "DamagedStoreError",
    "DiskFullError",
    "EnvironmentModel",
    "Expansion",
    "ExplicitModel",
    "ExportReport",
    "ForeignStoreError",
    "Goals",
    "HumanParameters",
    "HumanPolicyPrior",
    "InductionError",
    "KeyedModel",
    "KeyedNppModel",
    "Model",
    "NppModel",
    "NppPlan",
    "Objective",
    "OptimalPolicy",
    "PlanEstimate",
    "Resources",
    "RobotParameters",
    "RobotPolicy",
    "TableModel",
    "compute_human_policy_prior",
    "compute_optimal_policy",
    "compute_robot_policy",
    "estimate_plan",
    "export_policies",
    "plan_level",
]
