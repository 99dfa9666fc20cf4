"""Many robots, built by whatever runs jobs: each unit once, by workers that are like the one who planned."""

from __future__ import annotations

import json
import os
import pickle
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import grid_rbd
from grid_core.build import BuiltUnit, UnitJob, run_job
from grid_rbd.sharding import _share
from grid_rbd.written_plan import PlannedUnit
from grid_store import Store, StoreError
from tests.command_line import run
from tests.grid_core.build.conftest import Stub
from tests.grid_core.units import GOLDEN, PENDULUM

IIWA = GOLDEN / "iiwa14.urdf"


@pytest.fixture(autouse=True)
def _compiler(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", stub.command)


@contextmanager
def _dask() -> Iterator[Executor]:
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"dashboard_address": None, "threads_per_worker": 1}
        with distributed.LocalCluster(n_workers=2, **options) as cluster, distributed.Client(cluster) as client:
            assert os.getpid() not in client.run(os.getpid).values()
            yield client.get_executor()


EXECUTORS = {
    "threads": lambda: ThreadPoolExecutor(4),
    "processes": lambda: ProcessPoolExecutor(2, get_context("spawn")),
    "dask": _dask,
}
ROBOTS = [
    {"name": "arm", "urdf_path": str(PENDULUM), "algorithm_list": "minv"},
    {"name": "double", "urdf_path": str(PENDULUM), "algorithm_list": "crba", "dtype": "float64"},
    {"name": "again", "urdf_string": PENDULUM.read_text(), "algorithm_list": "crba"},
    {"name": "iiwa", "urdf_path": str(IIWA), "algorithm_list": "crba"},
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", EXECUTORS)
def test_any_executor_builds_each_unit_once(kind: str, root: Path, stub: Stub) -> None:
    with EXECUTORS[kind]() as executor:
        built = grid_rbd.build_many(ROBOTS, executor=executor, cache_dir=root)
    assert stub.compiled() == ["crba", "crba", "crba", "minv"], "'again' is 'arm' once more"
    assert [record["name"] for record in built] == ["arm", "double", "again", "iiwa"]
    assert built[0]["units"]["crba"] == built[2]["units"]["crba"]
    assert grid_rbd.get_robot("iiwa", root).nv == 7
    assert grid_rbd.build_many(ROBOTS, cache_dir=root) == built
    assert stub.compiled() == []


def test_without_an_executor_this_machine_builds(root: Path, stub: Stub) -> None:
    assert [record["name"] for record in grid_rbd.build_many(iter(ROBOTS[:3]), cache_dir=root)][-1] == "again"
    assert stub.compiled() == ["crba", "crba", "minv"]


def test_tiers_go_to_an_executor_as_well(root: Path, stub: Stub) -> None:
    tiers = [{"algorithm_list": "crba"}, {"algorithm_list": "crba", "dtype": "float64"}]
    with ThreadPoolExecutor(2) as executor:
        built = grid_rbd.precompile("arm", PENDULUM, tiers=tiers, cache_dir=root, executor=executor)
    assert [record["name"] for record in built] == ["arm__tier0", "arm__tier1"]
    assert stub.compiled() == ["crba", "crba"]


def test_no_variant_is_no_robot(root: Path) -> None:
    assert grid_rbd.precompile("arm", PENDULUM, tiers=[], cache_dir=root) == []
    assert grid_rbd.list_registered(root) == []


class Recorder(ThreadPoolExecutor):
    """An executor that keeps what goes in and out."""

    def __init__(self) -> None:
        super().__init__(1)
        self.jobs: list[Any] = []
        self.results: list[Any] = []

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
        self.jobs.append((function, arguments, options))
        future = super().submit(function, *arguments, **options)
        self.results.append(future)
        return future


def test_jobs_are_plain_data_and_results_are_small(root: Path) -> None:
    with Recorder() as executor:
        grid_rbd.build_many(ROBOTS[:1], executor=executor, cache_dir=root)
    assert len(executor.jobs) == 2
    for function, (job,), options in executor.jobs:
        assert (function, options) == (run_job, {})
        assert json.loads(json.dumps(job)) == job
        assert UnitJob.from_json(job).to_json() == job
        assert PENDULUM.read_text().strip() in job["request"]["description"]
    for future in executor.results:
        assert len(pickle.dumps(future.result())) < 1000
        assert BuiltUnit(**future.result()).worker.endswith(f":{os.getpid()}")


@pytest.fixture
def job(root: Path) -> dict[str, Any]:
    with Recorder() as executor:
        grid_rbd.build_many(ROBOTS[2:3], executor=executor, cache_dir=root)
    (_, (job,), _), *_ = executor.jobs
    return dict(job)


def test_a_job_that_is_run_again_generates_nothing(
    job: dict[str, Any], stub: Stub, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.compiled()
    monkeypatch.setattr("grid_core.build.builder.render_unit", lambda *_: pytest.fail("it was generated again"))
    again = BuiltUnit(**run_job(job))
    assert (again.compiled, stub.compiled()) == (False, [])
    assert Store(root).get(again.content_key)


def test_workers_refuse_another_compiler(job: dict[str, Any]) -> None:
    other = {**job, "toolchain": {**job["toolchain"], "version": "99.1"}}
    with pytest.raises(
        grid_rbd.ToolchainMismatchError, match=r"worker .* compiles with .*was made with \w+ 99\.1; install"
    ):
        run_job(other)


@pytest.mark.parametrize("component", ["core", "plugins", "level"])
def test_workers_refuse_other_sources(job: dict[str, Any], component: str) -> None:
    other = {**job, "inputs": {**job["inputs"], component: "0" * 64}}
    with pytest.raises(grid_rbd.ToolchainMismatchError, match=rf"another crba than planned \({component} differ\)"):
        run_job(other)


@pytest.mark.filterwarnings("ignore")
def test_a_refusal_reaches_whoever_asked(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grid_core.toolchains.cxx.CxxCompiler.identity", lambda self: {"kind": "gcc", "version": "99"})
    with (
        ProcessPoolExecutor(1, get_context("spawn")) as executor,
        pytest.raises(grid_rbd.ToolchainMismatchError, match="was made with gcc 99"),
    ):
        grid_rbd.build_many(ROBOTS[:1], executor=executor, cache_dir=root)
    assert grid_rbd.list_registered(root) == []


def test_a_failure_cancels_the_rest(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_MODE", "fail")
    with Recorder() as executor, pytest.raises(grid_rbd.CompileError, match="no such luck"):
        grid_rbd.build_many(ROBOTS, executor=executor, cache_dir=root)
    assert any(future.cancelled() for future in executor.results)
    assert grid_rbd.list_registered(root) == []


def test_workers_with_another_store_are_noticed(root: Path, tmp_path: Path) -> None:
    class Elsewhere(Recorder):
        def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
            return super().submit(function, {**arguments[0], "store": str(tmp_path / "elsewhere")}, **options)

    with Elsewhere() as executor, pytest.raises(StoreError, match=r"was built and is not in .* that they share"):
        grid_rbd.build_many(ROBOTS[:1], executor=executor, cache_dir=root)


@pytest.mark.parametrize(
    ("requests", "message"),
    [
        ([{"urdf_path": str(PENDULUM)}], "name is None"),
        (["arm"], "requests has the entry 'arm', expected dicts"),
        (ROBOTS[:1] * 2, "requests has the name 'arm' twice"),
        ([{**ROBOTS[0], "cache_dir": "x"}], "the request of 'arm' has cache_dir"),
        ([{**ROBOTS[0], "dtipe": "x"}], "takes no argument 'dtipe'.*'dtype'"),
        ([{"nme": "arm"}], "takes no argument 'nme'.*'name'"),
    ],
)
def test_bad_requests_build_nothing(requests: Any, message: str, root: Path, stub: Stub) -> None:
    with pytest.raises(grid_rbd.OptionError, match=message):
        grid_rbd.build_many(requests, cache_dir=root)
    assert stub.compiled() == []


def test_a_plan_is_built_in_shards(root: Path, stub: Stub, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    wanted = "minv,generalized_gravity,forward_dynamics"
    plan.write_text(run("plan", PENDULUM, "-n", "arm", "-a", wanted, "--json", "--cache-dir", root).out)
    here = ("--from-plan", plan, "--cache-dir", root)
    first = run("build", *here, "--shard", "1/3", "--json").document
    assert (first["registered"], len(first["missing"])) == (False, 3)
    assert "1 unit left to other shards" in run("build", *here, "--shard", "2/3").out
    third = run("build", *here, "--shard", "3/3")
    assert (third.code, "arm is complete and registered" in third.out) == (0, True)
    assert stub.compiled() == ["crba", "forward_dynamics", "generalized_gravity", "inverse_dynamics", "minv"]
    assert grid_rbd.get_robot("arm", root).nv == 2
    again = run("build", *here, "--json").document
    assert (again["registered"], any(unit["compiled"] for unit in again["built"])) == (True, False)
    grid_rbd.register_robot("arm", PENDULUM, cache_dir=root, algorithm_list=wanted)
    assert stub.compiled() == []


def test_a_plan_is_built_by_its_own_toolchain_only(root: Path) -> None:
    plan = grid_rbd.build_plan("arm", PENDULUM, cache_dir=root, algorithm_list="crba")
    plan["build_identity"]["compiler"]["version"] = "99.1"
    with pytest.raises(grid_rbd.ToolchainMismatchError, match=r"was made with gcc 99\.1"):
        grid_rbd.build_from_plan(plan, cache_dir=root)
    assert grid_rbd.list_registered(root) == []


def test_shards_are_disjoint_complete_and_balanced() -> None:
    units = [PlannedUnit(f"a{n}", False, {}, float(n % 7) if n % 5 else 1.0) for n in range(40)]
    for count in (1, 3, 8, 50):
        shares = [_share(units, f"{index}/{count}") for index in range(1, count + 1)]
        names = [unit.algorithm for share in shares for unit in share]
        assert sorted(names) == sorted(unit.algorithm for unit in units)
        loads = [sum(unit.seconds for unit in share) for share in shares]
        assert max(loads) - min(loads) <= 7.0
    assert _share(units, None) == units
    assert _share(units, f"{10**30}/{10**30}") == [], "more shards than units are no reason to run out of memory"


@pytest.mark.parametrize("shard", ["0/3", "4/3", "2", "a/b", "1/0", "-1/2", ""])
def test_bad_shards(shard: str, root: Path) -> None:
    plan = grid_rbd.build_plan("arm", PENDULUM, cache_dir=root, algorithm_list="crba")
    with pytest.raises(grid_rbd.OptionError, match="expected a share such as '2/8'"):
        grid_rbd.build_from_plan(plan, shard=shard, cache_dir=root)


EDITS: list[tuple[tuple[str | int, ...], Any, str]] = [
    (("wish",), 3, "not subscriptable"),
    (("wish", "request", "options"), {}, "it lacks 'settings'"),
    (("wish", "request", "algorithms"), ["crbaa"], "no plugin here provides 'crbaa', which may be one to install"),
    (("wish", "device"), "tpu", "device is 'tpu', expected one of"),
    (("wish", "lazy"), "yes", "lazy is 'yes', expected True or False"),
    (("wish", "max_batch"), -1, "max_batch is -1, expected a whole number"),
    (("name",), "../arm", r"name is '\.\./arm', expected printable text"),
    (("units",), [], "its units are not those of its wish"),
    (("units",), 3, "not iterable"),
    (("units", 0), {}, "it lacks 'status'"),
    (("units", 0, "status"), "lost", "the status of a unit is 'lost', expected one of hit, miss, stale"),
    (("units", 0, "algorithm"), "minv", "its units are not those of its wish"),
    (("units", 0, "inputs", "core"), 3, "core is 3, expected text"),
    (("build_identity", "compiler"), None, "not iterable"),
]


@pytest.mark.parametrize(("path", "value", "message"), EDITS)
def test_edited_plans_are_refused(path: tuple[str | int, ...], value: Any, message: str, root: Path) -> None:
    plan: Any = grid_rbd.build_plan("arm", PENDULUM, cache_dir=root, algorithm_list="crba")
    place = plan
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(
        grid_rbd.OptionError, match=f"plan was edited, or made by another version or with other plugins: .*{message}"
    ):
        grid_rbd.build_from_plan(plan, cache_dir=root)
    assert grid_rbd.list_registered(root) == []


@pytest.mark.parametrize("plan", [b"x", 3, None, [], "", "a\0b"])
def test_what_is_no_plan(plan: Any, root: Path) -> None:
    with pytest.raises(grid_rbd.OptionError, match=r"plan is .*, expected what build_plan returns, or the path of a"):
        grid_rbd.build_from_plan(plan, cache_dir=root)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give ROBOT, or --from-plan FILE"),
        (["arm7", "--shard", "1/2"], "give ROBOT, or --from-plan FILE, to which --shard belongs"),
        (["arm7", "--from-plan", "plan.json"], "leave ROBOT and the options of builds out"),
        (["--from-plan", "nothing.json"], "nothing.json cannot be read"),
        (["--from-plan", "text.json"], "text.json is no JSON"),
        (["--from-plan", "other.json"], "other.json is not what build_plan returns"),
        (
            ["--from-plan", "edited.json"],
            "edited.json was edited, or made by another version or with other plugins: it lacks 'request'",
        ),
    ],
)
def test_bad_command_lines(
    arguments: list[str], message: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.json").write_text("text")
    Path("other.json").write_text("{}")
    Path("edited.json").write_text('{"name": "arm", "wish": {}, "units": [], "build_identity": {}}')
    ran = run("build", *arguments, "--cache-dir", root)
    assert (ran.code, message in " ".join(ran.err.split())) == (2, True), ran.err


def test_requests_survive_json(root: Path) -> None:
    odd = PENDULUM.read_bytes().replace(b"</robot>", b"<!-- gr\xc3\xb6\xc3\x9fe \xff --></robot>")
    from grid_core.build import BuildOptions, RobotRequest, make_request

    request = make_request(odd, BuildOptions(), algorithm_list="crba")
    copy = RobotRequest.from_json(json.loads(json.dumps(request.to_json())))
    assert copy == request
    assert copy.identity() == request.identity()
    assert Store(root).names() == []
