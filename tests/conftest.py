from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("MPLBACKEND", "Agg")
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session", autouse=True)
def private_cache(tmp_path_factory):
    """Tests never touch the user's cache directory."""
    folder = tmp_path_factory.mktemp("cache")
    os.environ["NPP_ENV_CACHE"] = str(folder)
    return folder
