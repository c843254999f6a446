"""Faults in the level files of the game: packs, headers, the order of records, and what is told of levels."""

from __future__ import annotations

from ..faults import Fault

PACK = "npp_env/level/pack.py"
FORM = "npp_env/level/game_form.py"
MODEL = "npp_env/level/model.py"
DOUBTS = "npp_env/level/doubts.py"
SURVEY = "npp_env/level/survey.py"
CHECKS = "npp_env/level/validation.py"

FAULTS = [
    Fault(
        "pack-levels-counted-from-one",
        "npp_env/level/pack_files.py",
        "return entries[number]",
        "return entries[number - 1]",
        "levels",
        "off-by-one",
    ),
    Fault("pack-counts-little-endian", PACK, '{label}"), "big")', '{label}"), "little")', "levels", "exchanged-fields"),
    Fault("pack-nibbles-unswapped", PACK, "(value & 15) << 4 | value >> 4", "value", "levels", "dropped-condition"),
    Fault(
        "pack-offsets-in-bytes", PACK, "self._first_digit + 2 * at", "self._first_digit + at", "levels", "wrong-index"
    ),
    Fault(
        "pack-switches-between-exits",
        PACK,
        "if kind == EntityKind.EXIT:\n            self._place(records",
        "if kind != EntityKind.EXIT:\n            self._place(records",
        "levels",
        "sign",
    ),
    Fault("pack-footer-unchecked", PACK, "if footer != _ZEROS:", "if False:", "levels", "dropped-condition"),
    Fault(
        "thwump-without-direction", FORM, "14, 15, 20, 23, 26})", "14, 15, 23, 26})", "levels", "neighbouring-constant"
    ),
    Fault(
        "lasers-without-mode",
        FORM,
        "{12, 13, 14, 15, 23, 26}",
        "{12, 13, 14, 15, 26}",
        "levels",
        "neighbouring-constant",
    ),
    Fault(
        "exit-switch-behind-its-exit",
        FORM,
        "if kind == EntityKind.EXIT else placed",
        "if kind != EntityKind.EXIT else placed",
        "levels",
        "sign",
    ),
    Fault(
        "header-length-less-eight",
        MODEL,
        "magic, record_offset(record_count)",
        "magic, record_offset(record_count) - 8",
        "levels",
        "off-by-one",
    ),
    Fault(
        "name-runs-into-the-author",
        MODEL,
        "NAME_OFFSET + NAME_BYTES]",
        "NAME_OFFSET + NAME_BYTES + 16]",
        "levels",
        "off-by-one",
    ),
    Fault(
        "door-switches-counted",
        CHECKS,
        "counts[_UNCOUNTED] = 0",
        "counts[_UNCOUNTED] = 1",
        "levels",
        "neighbouring-constant",
    ),
    Fault(
        "unknown-ids-taken-for-simulated",
        DOUBTS,
        "if t >= FIRST_UNKNOWN_TYPE or not",
        "if t < FIRST_UNKNOWN_TYPE and not",
        "levels",
        "sign",
    ),
    Fault("maps-without-suffix-skipped", SURVEY, 'BINARY_SUFFIX, "")', "BINARY_SUFFIX)", "levels", "dropped-condition"),
]
