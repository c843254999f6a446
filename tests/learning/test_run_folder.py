"""A damaged folder of a run is named, whatever is wrong with its settings."""

from __future__ import annotations

import pytest

from npp_env.errors import NppError
from npp_env.learning.run_folder import CONFIG, RunFolder


@pytest.mark.parametrize("text", ["", "{", "5", "null", "[" * 100_000, '{"no such setting": 1}', '{"seed": "x"}'])
def test_settings_that_cannot_be_read(tmp_path, text):
    (tmp_path / CONFIG).write_text(text)
    with pytest.raises(NppError):
        RunFolder(tmp_path).settings()
