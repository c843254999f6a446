"""Which compiler a build takes, and what it says where there is none; one version, one list of sources."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import npp_env

ROOT = Path(__file__).resolve().parent.parent
COMPILES = 'while [ "$1" != "-o" ]; do shift; done\n: > "$2"\n'
FAILS = 'echo "planted: no such header" >&2\nexit 1\n'

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="on Windows setuptools alone chooses the compiler")


@pytest.fixture
def backend(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    for name in ("CC", "LDSHARED", "CFLAGS", "LDFLAGS", "NPP_BUILD_LATER", "NPP_ZIG_TARGET"):
        monkeypatch.delenv(name, raising=False)
    import build_backend

    monkeypatch.setattr(build_backend, "index_offers_zig", lambda: True)
    return build_backend


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """The only folder on the PATH."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def write_program(folder: Path, name: str, body: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}")
    path.chmod(0o755)
    return path


def default_compilers() -> set[str]:
    """The programs that setuptools compiles and links with, by this Python's own account."""
    import sysconfig

    return {str(sysconfig.get_config_var(name)).split()[0] for name in ("CC", "LDSHARED")}


def install_compiler(programs: Path, body: str) -> None:
    for name in default_compilers():
        write_program(programs, name, body)


def pretend_zig(monkeypatch, backend, installed: bool) -> None:
    monkeypatch.setattr(backend.importlib.util, "find_spec", lambda name: object() if installed else None)


def test_a_working_compiler_is_taken(backend, programs):
    install_compiler(programs, COMPILES)
    assert backend.probe_compiler().works
    assert backend.compiler_requirements() == []
    assert backend.compiler_command() is None


def test_the_real_compiler_of_this_machine_is_judged_by_what_it_makes(backend, monkeypatch):
    if not backend.probe_compiler().found:
        monkeypatch.setenv("CC", shlex.join(backend.zig_command()))
    probe = backend.probe_compiler()
    assert probe.works, probe.error
    monkeypatch.setattr(backend, "PROBE", "#include <no_such_header.h>\n")
    assert "no_such_header.h" in backend.probe_compiler().error
    assert not backend.probe_compiler().works


def test_without_a_compiler_zig_is_asked_for_and_taken(backend, programs, monkeypatch):
    pretend_zig(monkeypatch, backend, True)
    assert not backend.probe_compiler().found
    assert backend.compiler_requirements() == [backend.ZIG_REQUIREMENT]
    command = backend.compiler_command()
    assert command[:4] == [sys.executable, "-m", "ziglang", "cc"]
    assert "-mcpu=baseline" in command


def test_a_compiler_that_cannot_compile_gives_way_to_zig_and_is_quoted(backend, programs, monkeypatch, capsys):
    install_compiler(programs, FAILS)
    assert backend.compiler_requirements() == [backend.ZIG_REQUIREMENT]
    pretend_zig(monkeypatch, backend, True)
    assert backend.compiler_command()[2] == "ziglang"
    assert "planted: no such header" in capsys.readouterr().out


def test_a_compiler_that_cannot_compile_is_not_called_missing(backend, programs, monkeypatch):
    install_compiler(programs, FAILS)
    pretend_zig(monkeypatch, backend, False)
    assert backend.compiler_command() is None


def test_a_compiler_that_cannot_link_does_not_work(backend, programs):
    install_compiler(programs, f'case "$*" in *-c*) {COMPILES.replace(chr(10), ";")} exit 0;; esac\n{FAILS}')
    probe = backend.probe_compiler()
    assert probe.found
    assert "planted" in probe.error


def test_neither_compiler_nor_zig_is_one_sentence(backend, programs, monkeypatch):
    pretend_zig(monkeypatch, backend, False)
    with pytest.raises(backend.CompilerMissingError) as raised:
        backend.compiler_command()
    assert "install gcc or clang" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_missing_headers_are_named_and_no_compiler_is_fetched_for_them(backend, programs, monkeypatch, tmp_path):
    monkeypatch.setattr(backend.sysconfig, "get_path", lambda name: str(tmp_path))
    pretend_zig(monkeypatch, backend, True)
    assert backend.compiler_requirements() == []
    with pytest.raises(backend.CompilerMissingError, match=r"Python\.h is not in .*python3-dev"):
        backend.compiler_command()


@pytest.mark.parametrize("body", [COMPILES, FAILS])
def test_the_compiler_named_by_the_user_is_never_replaced(backend, programs, monkeypatch, body):
    monkeypatch.setenv("CC", str(write_program(programs, "mine", body)))
    pretend_zig(monkeypatch, backend, True)
    assert backend.compiler_requirements() == []
    assert backend.compiler_command() is None


def test_the_probe_runs_the_compiler_named_by_the_user(backend, programs, monkeypatch):
    install_compiler(programs, COMPILES)
    monkeypatch.setenv("CC", str(write_program(programs, "mine", FAILS)))
    assert "planted" in backend.probe_compiler().error


def test_a_target_forces_zig(backend, programs, monkeypatch):
    install_compiler(programs, COMPILES)
    monkeypatch.setenv("NPP_ZIG_TARGET", "x86_64-linux-gnu.2.17")
    assert backend.compiler_requirements() == [backend.ZIG_REQUIREMENT]
    command = backend.compiler_command()
    assert command[command.index("-target") + 1] == "x86_64-linux-gnu.2.17"


def test_nothing_is_asked_for_where_compiling_waits(backend, programs, monkeypatch):
    monkeypatch.setenv("NPP_BUILD_LATER", "1")
    assert backend.compiler_requirements() == []


def test_an_index_without_zig_is_not_asked_for_it(backend, programs, monkeypatch):
    monkeypatch.setattr(backend, "index_offers_zig", lambda: False)
    assert backend.compiler_requirements() == []


def test_the_index_is_asked_the_way_pip_is_configured(backend, monkeypatch, tmp_path):
    monkeypatch.undo()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    assert not backend.index_offers_zig()
    (tmp_path / "ziglang-0.99.0-py3-none-any.whl").touch()
    assert backend.index_offers_zig()


def test_hooks_add_the_compiler_to_what_setuptools_asks_for(backend, programs, monkeypatch):
    for kind in ("wheel", "editable"):
        monkeypatch.setattr(backend.build_meta, f"get_requires_for_build_{kind}", lambda settings: ["something"])
        hook = getattr(backend, f"get_requires_for_build_{kind}")
        assert hook() == ["something", backend.ZIG_REQUIREMENT]


def run_setup(tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    hidden = tmp_path / "hidden"
    hidden.mkdir(exist_ok=True)
    (hidden / "sitecustomize.py").write_text("import sys\nsys.modules['ziglang'] = None\n")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CC", "NPP_", "PYTHONPATH"))}
    return subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "-b", str(tmp_path / "lib"), "-t", str(tmp_path / "temp")],
        cwd=ROOT,
        env={**kept, "PYTHONPATH": str(hidden), **environment},
        capture_output=True,
        text=True,
    )


def test_setup_without_any_compiler_ends_with_the_sentence_alone(backend, tmp_path):
    done = run_setup(tmp_path, PATH=str(tmp_path))
    assert done.returncode
    assert done.stderr.strip() == backend.NO_COMPILER


def test_setup_shows_what_a_failing_compiler_says(backend, tmp_path):
    done = run_setup(tmp_path, CC=str(write_program(tmp_path, "mine", FAILS)))
    assert done.returncode
    assert "planted: no such header" in done.stderr
    assert backend.NO_COMPILER not in done.stderr + done.stdout
    assert not list((tmp_path / "lib").rglob("_compiled.json"))


def test_the_version_is_written_down_once():
    assert version("npp_env") == npp_env.__version__
    literal = re.compile(rf"(?<![\d.]){re.escape(npp_env.__version__)}(?![\d.])")
    metadata = [ROOT / name for name in ("setup.cfg", "setup.py", "pyproject.toml", "CITATION.cff")]
    assert not [path.name for path in metadata if literal.search(path.read_text())]


def test_metadata_needs_no_import_of_the_package():
    assigned = [
        node.value
        for node in ast.parse((ROOT / "npp_env" / "__init__.py").read_text()).body
        if isinstance(node, ast.Assign) and node.targets[0].id == "__version__"
    ]
    assert [value.value for value in assigned] == [npp_env.__version__]


def test_every_build_rounds_alike():
    text = (ROOT / "setup.py").read_text() + (ROOT / "build_backend.py").read_text()
    assert text.count('"-ffp-contract=off"') == 2
    assert "/fp:precise" in text
    assert not re.search(r"-march=native|-mcpu=native|-ffast-math|/fp:fast", text)
