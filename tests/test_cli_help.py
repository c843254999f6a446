"""`--help` answers at once: it reads light modules only. What it repeats of heavy ones is what they say."""

from __future__ import annotations

import argparse
import subprocess
import sys

import pytest

from npp_env.cli import COMMANDS, build_parser, estimate, levels_generate, measuring
from npp_env.learning.demonstrations import DemoOptions
from npp_env.learning.teacher import TeacherConfig
from npp_env.level.cache_store import ENVIRONMENT_VARIABLE as CACHE_VARIABLE
from npp_env.level.files import BINARY_SUFFIX, TEXT_SUFFIX
from npp_env.level.generate import ANY, DEFAULT_DIFFICULTY, FAMILIES
from npp_env.observe.spec import OBSERVATION_GROUPS
from npp_env.profiling.growth import DEFAULT_THRESHOLD_BYTES_PER_1K
from npp_env.rollouts.estimate import OFF_POLICY, ON_POLICY

HEAVY = ("numpy", "gymnasium", "psutil", "tqdm", "npp_env.level", "npp_env.config")
PROGRAM = f"""
import sys
sys.argv = ["npp-env"]
from npp_env.cli import main
code = main(sys.argv[1:] + WORDS + ["--help"])
print(code, [name for name in {HEAVY!r} if name in sys.modules])
"""


def actions_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers below one, by the word that asks for each."""
    found = [action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(found[0]) if found else {}


def parser_of(*words: str) -> argparse.ArgumentParser:
    parser = build_parser(words[0])
    for word in words:
        parser = actions_of(parser)[word]
    return parser


def ways_to_ask() -> list[list[str]]:
    below = [[name, action] for name in COMMANDS for action in actions_of(parser_of(name))]
    return [[], *([name] for name in COMMANDS), *below]


@pytest.mark.parametrize("words", ways_to_ask(), ids=" ".join)
def test_help_imports_nothing_heavy(words):
    program = PROGRAM.replace("WORDS", repr(words))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.startswith("usage: npp-env"), done.stderr
    assert done.stdout.splitlines()[-1] == "0 []"


def test_all_commands_with_actions_are_asked():
    assert {words[0] for words in ways_to_ask() if len(words) > 1} == {"cache", "demos", "levels"}
    assert len(ways_to_ask()) > 30


def test_names_are_those_of_the_tables():
    assert (*FAMILIES, ANY) == levels_generate.KINDS
    assert tuple(OBSERVATION_GROUPS) == measuring.GROUPS
    assert estimate.ALGORITHMS == ON_POLICY + OFF_POLICY


def test_defaults_are_those_of_the_functions():
    options, teacher = DemoOptions(), TeacherConfig()
    make = parser_of("demos", "make")
    promised = [make.get_default(name) for name in ("perturbed", "frame_skip", "seed", "ticks")]
    assert promised == [options.perturbed, options.frame_skip, options.seed, teacher.ticks_per_state]
    assert parser_of("levels", "generate").get_default("difficulty") == DEFAULT_DIFFICULTY
    assert parser_of("analyze").get_default("threshold_kb") == DEFAULT_THRESHOLD_BYTES_PER_1K / 1024


def test_texts_name_what_there_is():
    from npp_env.cli.play_scores import ENVIRONMENT_VARIABLE as BEST_VARIABLE

    assert f"${CACHE_VARIABLE}" in parser_of("cache", "info").format_help()
    assert f"${BEST_VARIABLE}" in parser_of("play").format_help()
    assert f"a {TEXT_SUFFIX} (text), a {BINARY_SUFFIX} (binary map)" in " ".join(
        parser_of("levels", "convert").format_help().split()
    )
