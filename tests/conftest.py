from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("MPLBACKEND", "Agg")
sys.path.insert(0, str(Path(__file__).parent))
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Shells have what they run in the background ignore Ctrl-C, and all that it starts would do so too.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def private_cache(tmp_path_factory):
    """Tests never touch the user's cache directory."""
    folder = tmp_path_factory.mktemp("cache")
    os.environ["NPP_ENV_CACHE"] = str(folder)
    return folder


def pytest_terminal_summary(terminalreporter):
    """Where everything optional is installed (NPP_NO_SKIPS=1), say what was skipped all the same."""
    if os.environ.get("NPP_NO_SKIPS") == "1":
        for report in terminalreporter.stats.get("skipped", []):
            terminalreporter.write_line(f"skipped, which is a failure here: {report.nodeid} {report.longrepr}")


def pytest_sessionfinish(session, exitstatus):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("NPP_NO_SKIPS") == "1" and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = 1
