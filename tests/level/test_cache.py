from __future__ import annotations

import os
import threading
import time
import warnings

import numpy as np
import pytest

from level.samples import small_level
from npp_env.errors import ConfigError
from npp_env.level.cache import Artifact, LevelCache, default_cache
from npp_env.level.cache_store import default_directory
from npp_env.sim.geometry import GEOMETRY, geometry_of
from npp_env.sim.handles import handle_of

LEVEL = small_level()
OTHER = small_level(extra=[(2, 20, 20, 0, 0)])


def numbered(name="numbers", size=1000, **options):
    return Artifact(name, 1, lambda level, cache: np.arange(size, dtype=np.int16), **options)


def many(count):
    return [numbered(variant=str(k)) for k in range(count)]


def test_everyone_gets_the_same_read_only_array(tmp_path):
    for cache in (LevelCache(directory=tmp_path), LevelCache(persist=False)):
        array = cache.get(LEVEL, numbered())
        assert array is cache.get(small_level(), numbered())
        assert array is not cache.get(OTHER, numbered())
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)


def test_report_counts_exactly(tmp_path):
    cache = LevelCache(directory=tmp_path)
    for _ in range(3):
        cache.get(LEVEL, numbered())
    cache.get(OTHER, numbered())
    cache.get(LEVEL, numbered("memory", 10, persisted=False))
    use = cache.report()
    assert (use["numbers"].count, use["numbers"].mapped_bytes, use["numbers"].private_bytes) == (2, 4000, 0)
    assert (use["numbers"].hits, use["numbers"].builds, use["numbers"].loads) == (2, 2, 0)
    assert (use["memory"].private_bytes, use["memory"].mapped_bytes) == (20, 0)
    again = LevelCache(directory=tmp_path)
    again.get(LEVEL, numbered())
    assert (again.report()["numbers"].loads, again.report()["numbers"].builds) == (1, 0)
    cache.clear()
    assert cache.report()["numbers"].nbytes == 0
    cache.get(LEVEL, numbered())
    assert cache.report()["numbers"].loads == 1


def test_levels_of_one_content_count_once_while_they_live():
    cache = LevelCache(persist=False)
    first = small_level()
    cache.get(first, numbered())
    cache.get(small_level(), numbered())
    tiles = cache.report()["tiles"]
    assert (tiles.count, tiles.nbytes) == (1, 23 * 42 + 3 * 5 + 80 + 184)
    del first
    assert cache.report()["tiles"].count == 0


@pytest.mark.parametrize("persist", [True, False])
def test_least_recently_used_goes_first(tmp_path, persist):
    cache = LevelCache(budget_bytes=3 * 2000, directory=tmp_path, persist=persist)
    one, two, three, four = many(4)
    for artifact in (one, two, three, one, four):
        cache.get(LEVEL, artifact)
    use = cache.report()["numbers"]
    assert (use.count, use.nbytes, use.evictions) == (3, 6000, 1)
    cache.get(LEVEL, one)
    assert cache.report()["numbers"].hits == 2
    cache.get(LEVEL, two)
    use = cache.report()["numbers"]
    assert use.builds + use.loads == 5


@pytest.mark.parametrize("persist", [True, False])
@pytest.mark.parametrize("hold", [lambda a: a, lambda a: a[5:], lambda a: a[5:].view(np.uint8)[3:][::2]])
def test_what_someone_holds_stays(tmp_path, persist, hold):
    cache = LevelCache(budget_bytes=2000, directory=tmp_path, persist=persist)
    first, *others = many(6)
    held = hold(cache.get(LEVEL, first))
    for artifact in others:
        cache.get(LEVEL, artifact)
    use = cache.report()["numbers"]
    assert (use.count, use.evictions) == (2, 4)
    assert np.shares_memory(cache.get(LEVEL, first), held)
    del held
    cache.get(LEVEL, others[0])
    assert cache.report()["numbers"].count == 1


def test_geometry_and_handles_are_shared(tmp_path):
    cache = LevelCache(directory=tmp_path)
    handles = [handle_of(small_level(), cache) for _ in range(100)]
    assert len({id(handle) for handle in handles}) == 1
    use = cache.report()["geometry"]
    assert (use.count, use.builds) == (1, 1)
    assert geometry_of(LEVEL, cache).block is cache.get(LEVEL, GEOMETRY)
    assert handle_of(LEVEL, LevelCache(persist=False)) is not handles[0]


def test_threads_build_once():
    cache = LevelCache(persist=False)
    calls = []

    def build(level, cache):
        calls.append(1)
        time.sleep(0.05)
        return np.zeros(10)

    slow = Artifact("slow", 1, build)
    results = []
    threads = [threading.Thread(target=lambda: results.append(cache.get(LEVEL, slow))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert len({id(array) for array in results}) == 1
    assert cache.report()["slow"].hits == 15


def test_threads_under_eviction_get_the_right_arrays(tmp_path):
    cache = LevelCache(budget_bytes=5000, directory=tmp_path)
    artifacts = [
        Artifact("value", 1, lambda level, cache, k=k: np.full(500, k, np.int32), variant=str(k)) for k in range(8)
    ]
    wrong = []

    def work(seed):
        for k in np.random.default_rng(seed).integers(0, 8, 300).tolist():
            if not (cache.get(LEVEL, artifacts[k]) == k).all():
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    use = cache.report()["value"]
    assert use.hits + use.loads + use.builds == 1200
    assert use.nbytes == use.count * 2000 <= 5000 + 4 * 2000


def test_failed_builds_can_be_tried_again():
    cache = LevelCache(persist=False)
    results = [RuntimeError("no"), np.zeros(3)]

    def build(level, cache):
        result = results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    with pytest.raises(RuntimeError, match="no"):
        cache.get(LEVEL, Artifact("shaky", 1, build))
    assert cache.get(LEVEL, Artifact("shaky", 1, build)).shape == (3,)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_works_while_the_parent_builds(tmp_path):
    cache = LevelCache(directory=tmp_path)
    before = cache.get(LEVEL, numbered())
    building, go_on = threading.Event(), threading.Event()

    def build(level, cache):
        building.set()
        go_on.wait(20)
        return np.arange(7)

    thread = threading.Thread(target=lambda: cache.get(LEVEL, Artifact("busy", 1, build)))
    thread.start()
    building.wait(20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        code = 1
        try:
            threading.Timer(20, lambda: os._exit(2)).start()
            good = cache.get(LEVEL, numbered()) is before
            good &= cache.get(LEVEL, Artifact("busy", 1, lambda level, cache: np.arange(7))).sum() == 21
            good &= default_cache() is default_cache()
            code = 0 if good else 1
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    go_on.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0
    assert cache.get(LEVEL, Artifact("busy", 1, build)).tolist() == list(range(7))


def test_mapped_files_need_no_descriptors(tmp_path):
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("needs /proc")
    cache = LevelCache(directory=tmp_path)
    before = len(os.listdir("/proc/self/fd"))
    arrays = [cache.get(LEVEL, artifact) for artifact in many(50)]
    assert all(array.sum() == 499500 for array in arrays)
    assert len(os.listdir("/proc/self/fd")) <= before + 2


def test_environment_variable_and_platform_decide_the_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("NPP_ENV_CACHE", str(tmp_path / "mine"))
    assert LevelCache().directory == tmp_path / "mine"
    assert LevelCache(directory=tmp_path).directory == tmp_path
    assert LevelCache(persist=False).directory is None
    for off in ("", "off", " OFF ", "none"):
        monkeypatch.setenv("NPP_ENV_CACHE", off)
        assert LevelCache().directory is None
    monkeypatch.delenv("NPP_ENV_CACHE")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_directory() == tmp_path / "npp_env"
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert default_directory() == tmp_path / "local" / "npp_env"


def test_negative_budget_is_refused():
    with pytest.raises(ConfigError, match="budget_bytes is -1"):
        LevelCache(budget_bytes=-1)


def test_what_is_prepared_is_one_file_and_built_once(tmp_path):
    built = []

    def artifact(name, **options):
        def build(level, cache):
            built.append(name)
            return np.arange(100) if name == "first" else cache.get(level, artifact("first")) + 1

        return Artifact(name, 1, build, **options)

    def build_all(cache):
        cache.get(LEVEL, artifact("second"))
        cache.get(LEVEL, artifact("unstored", persisted=False))

    cache = LevelCache(directory=tmp_path)
    cache.prepare(LEVEL, build_all)
    assert built == ["second", "first", "unstored"]
    for name, options in (("first", {}), ("second", {}), ("unstored", {"persisted": False})):
        assert cache.get(LEVEL, artifact(name, **options)).tolist() == list(
            range(name != "first", 100 + (name != "first"))
        )
        assert cache.get(LEVEL, artifact(name, **options)) is cache.get(LEVEL, artifact(name, **options))
    assert len(built) == 3
    report = cache.report()
    assert [report[name].builds for name in ("first", "second", "unstored")] == [1, 1, 1]
    assert [report[name].mapped_bytes for name in ("first", "second", "unstored")] == [800, 800, 0]
    assert cache.get(LEVEL, artifact("first")).base.file is cache.get(LEVEL, artifact("second")).base.file
    (file,) = cache.store.files()
    assert sorted(name for name, _ in file.artifacts) == ["first", "second"]
    # With a file there is nothing to prepare.
    again = LevelCache(directory=tmp_path)
    again.prepare(LEVEL, lambda cache: pytest.fail("prepared again"))
    assert again.get(LEVEL, artifact("second"))[0] == 1
    assert len(built) == 3


@pytest.mark.parametrize("persist", [True, False])
def test_what_cannot_be_stored_is_prepared_in_memory(tmp_path, persist):
    (tmp_path / "file").write_text("not a directory")
    cache = LevelCache(directory=tmp_path / "file" / "cache", persist=persist)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cache.prepare(LEVEL, lambda cache: cache.get(LEVEL, numbered()))
        assert cache.get(LEVEL, numbered())[5] == 5
    assert len(caught) == persist
    use = cache.report()["numbers"]
    assert (use.builds, use.private_bytes, use.mapped_bytes) == (1, 2000, 0)


def test_threads_prepare_once(tmp_path):
    cache = LevelCache(directory=tmp_path)
    calls = []

    def build(apart):
        calls.append(1)
        time.sleep(0.05)
        apart.get(LEVEL, numbered())

    threads = [threading.Thread(target=cache.prepare, args=(LEVEL, build)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
