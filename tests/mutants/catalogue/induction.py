"""Faults in exact planning: sweeps, the table of known states, levels and files."""

from __future__ import annotations

from ..faults import Fault

HUMAN, ROBOT = "npp_env/induction/human_sweep.pyx", "npp_env/induction/robot_sweep.pyx"
OPTIMAL, ROWS = "npp_env/induction/optimal_sweep.pyx", "npp_env/induction/row_block.pxd"
INDEX, BUILDER = "npp_env/induction/state_index.pyx", "npp_env/induction/builder.py"
FILES, FOLDER = "npp_env/induction/array_files.py", "npp_env/induction/array_folder.py"
LEVELS, HUMANS = "npp_env/induction/level_arrays.py", "npp_env/induction/human.py"

FAULTS = [
    Fault(
        "the-robot-is-expected-to-do-the-best",
        HUMAN,
        "least[g] = expected[g] if expected[g] < least[g] else least[g]",
        "least[g] = expected[g] if expected[g] > least[g] else least[g]",
        "induction",
        "sign",
    ),
    Fault(
        "sum-instead-of-mean-over-the-others",
        HUMAN,
        "worth[g] /= others",
        "worth[g] /= 1",
        "induction",
        "dropped-condition",
    ),
    Fault(
        "goals-that-hold-are-striven-for",
        HUMAN,
        "if bits[goal >> 3] >> (goal & 7) & 1:",
        "if bits[goal >> 3] >> (goal & 7) & 1 and terminal:",
        "induction",
        "dropped-condition",
    ),
    Fault(
        "goals-beyond-the-eighth-are-mixed-up",
        HUMAN,
        "if bits[goal >> 3] >> (goal & 7) & 1:",
        "if bits[goal >> 4] >> (goal & 7) & 1:",
        "induction",
        "wrong-index",
    ),
    Fault(
        "own-policy-averaged-too",
        ROBOT,
        "        if other != human:\n            chance",
        "        if other != human or True:\n            chance",
        "induction",
        "dropped-condition",
    ),
    Fault(
        "power-to-the-wrong-exponent",
        ROBOT,
        "pow(value, job.zeta)",
        "pow(value, job.eta)",
        "induction",
        "exchanged-fields",
    ),
    Fault("power-of-the-mean-lost", ROBOT, "pow(mean, job.eta)", "mean", "induction", "dropped-condition"),
    Fault(
        "terminal-robot-is-worth-something",
        ROBOT,
        "TERMINAL_VALUE = -1e-10",
        "TERMINAL_VALUE = -1e-3",
        "induction",
        "neighbouring-constant",
    ),
    Fault(
        "probabilities-are-left-out",
        ROWS,
        "1.0 if rows.probabilities == NULL else rows.probabilities[k])",
        "1.0)",
        "induction",
        "dropped-condition",
    ),
    Fault(
        "the-last-of-the-best-actions",
        OPTIMAL,
        "worth[action] > highest)",
        "worth[action] >= highest)",
        "induction",
        "off-by-one",
    ),
    Fault(
        "actions-cost-nothing", OPTIMAL, "worth[action] = -job.costs[action]", "worth[action] = 0", "induction", "sign"
    ),
    Fault(
        "entropy-without-its-scale",
        OPTIMAL,
        "return highest + log(total) / job.beta",
        "return highest + log(total)",
        "induction",
        "dropped-condition",
    ),
    Fault(
        "equal-hashes-are-taken-for-equal-states",
        BUILDER,
        "if not same or not self._are_known(keys, numbers, places, found):",
        "if False:",
        "induction-store",
        "dropped-condition",
    ),
    Fault(
        "numbers-by-the-slot",
        INDEX,
        "numbers[i] = slots[at] - 1",
        "numbers[i] = slots[at]",
        "induction-store",
        "off-by-one",
    ),
    Fault(
        "holes-of-a-level-are-left-out",
        LEVELS,
        "self.writers[what].append(np.zeros((first - self._next, *row_shape), dtype))",
        "pass",
        "induction",
        "dropped-condition",
    ),
    Fault(
        "discount-of-the-first-human-for-all",
        HUMANS,
        "self._discounts[:, None]",
        "self._discounts[0]",
        "induction",
        "wrong-index",
    ),
    Fault(
        "checksums-are-not-compared",
        FILES,
        "or total.hexdigest() != record.checksum:",
        "or False:",
        "induction-store",
        "dropped-condition",
    ),
    Fault(
        "left-overs-stay",
        FOLDER,
        'if name.startswith(TEMPORARY) or (name.endswith(".npy") and name not in kept):',
        "if False:",
        "induction-store",
        "dropped-condition",
    ),
]
