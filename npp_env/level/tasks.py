"""Tasks: environment ids that name their levels, so that two results under one id can be compared.

Generated levels follow the protocol of Procgen: an agent learns on a fixed range of seeds and is judged on seeds that
it cannot have seen, of the same distribution.
"""

from __future__ import annotations

from npp_env.level.shipped import shipped_folder

ALL_TASK = "Npp-All-v0"
TRAINING_SEEDS = "0-999"
FIRST_TEST_SEED = 100_000
GENERATED_DIFFICULTIES = {"Easy": 0.1, "Medium": 0.4, "Hard": 0.8}


def task_levels() -> dict[str, str]:
    """The levels of every task, as `LevelSet.parse` takes them, by environment id.

    Example:
        >>> task_levels()["Npp-FirstSteps-v0"]
        'shipped:first_steps'
        >>> task_levels()["Npp-Generated-Easy-v0"]
        'generated:any?difficulty=0.1&seeds=0-999'
    """
    tasks = {task_of_group(group): f"shipped:{group}" for group in shipped_groups()}
    tasks[ALL_TASK] = "shipped"
    for name, difficulty in GENERATED_DIFFICULTIES.items():
        levels = f"generated:any?difficulty={difficulty}&seeds="
        tasks[f"Npp-Generated-{name}-v0"] = f"{levels}{TRAINING_SEEDS}"
        tasks[f"Npp-Generated-{name}-Test-v0"] = f"{levels}{FIRST_TEST_SEED}"
    return tasks


def task_of_group(group: str) -> str:
    """The environment id of a group of shipped levels.

    Example:
        >>> task_of_group("launch_boost")
        'Npp-LaunchBoost-v0'
    """
    return f"Npp-{''.join(word.capitalize() for word in group.split('_'))}-v0"


def shipped_groups() -> list[str]:
    """The groups of shipped levels, sorted."""
    return sorted(folder.name for folder in shipped_folder().iterdir() if folder.is_dir())
