"""Every documented argument of the public functions: accepted, refused with advice, or not part of this version."""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import grid_rbd
from grid_core.model import URDFWarning
from grid_rbd import FrameworkMissingError, NotAvailableError, OptionError
from grid_rbd.wishes import description_of, make_wish
from tests.grid_core.build.conftest import Stub
from tests.grid_core.units import GOLDEN, PENDULUM

WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"backend": "tensorflow"}, OptionError, "backend is 'tensorflow', expected one of numpy, jax, torch"),
    ({"dtype": "float16"}, OptionError, "dtype is 'float16', expected one of float32, float64"),
    ({"output_convention": "drake"}, OptionError, "output_convention is 'drake', expected one of pinocchio, mujoco"),
    ({"output_convention": "mujoco", "floating_base": True}, NotAvailableError, "use 'pinocchio' and convert"),
    ({"device": "tpu"}, OptionError, "device is 'tpu', expected one of auto, cpu, cuda, reference"),
    ({"device": "cpu:1"}, OptionError, "device is 'cpu:1', expected one of auto, cpu, cuda, reference, or 'cuda:1'"),
    ({"device": "cuda:x"}, OptionError, "device is 'cuda:x', expected 'cuda' or 'cuda:0'"),
    ({"device": "cpu", "cuda_arch": 90}, OptionError, "cuda_arch=90 contradicts device='cpu'"),
    ({"cuda_arch": 90, "cpu_level": "native"}, OptionError, "cpu_level='native' contradicts cuda_arch=90"),
    ({"device": "cpu", "cuda_archs": "86"}, OptionError, "cuda_archs='86' contradicts device='cpu'"),
    ({"cuda_archs": "9.0"}, OptionError, "cuda_archs is '9.0', expected compute capabilities without the dot"),
    ({"cuda_arch": "hopper"}, OptionError, "cuda_arch is 'hopper', expected a whole number"),
    ({"max_batch_size": 0}, OptionError, "max_batch_size is 0, expected a whole number of at least 1"),
    ({"max_batch_size": 2.5}, OptionError, "max_batch_size is 2.5"),
    ({"ee_joint_names": [""]}, OptionError, "ee_joint_names has the entry ''"),
    ({"ee_joint_names": [3]}, OptionError, "ee_joint_names has the entry 3"),
    ({"ee_joint_names": 3}, OptionError, "ee_joint_names has the entry 3"),
    ({"ee_joint_names": ["joint22"]}, grid_rbd.GridError, "^ee_joint_names: robot .*did you mean .*'joint2'.*'frames'"),
    ({"runtime_inertia": 1}, OptionError, "runtime_inertia is 1, expected True or False"),
    ({"enable_tool": "no"}, OptionError, "enable_tool is 'no', expected True or False"),
    ({"contact_frames": ["joint22"]}, grid_rbd.GridError, "^contact_frames: .*did you mean .*'joint2'"),
    ({"contact_frames": ["joint2", "joint2"]}, OptionError, "contact_frames has 'joint2' twice"),
    ({"cost_frames": ["joint22"]}, grid_rbd.GridError, "^cost_frames: .*did you mean .*'joint2'"),
    ({"cost_frames": ["joint2", "joint2"]}, OptionError, "cost_frames has 'joint2' twice"),
    ({"cost_features": 3}, OptionError, "cost_features is 3, expected two whole numbers of at least 1"),
    ({"cost_features": (3, 0)}, OptionError, r"cost_features is \(3, 0\), expected two whole numbers"),
    ({"algorithm_list": []}, OptionError, "algorithm_list is empty"),
    ({"algorithm_list": "crab"}, OptionError, "unknown algorithm or profile 'crab'; did you mean 'crba'"),
    ({"algorithm_list": 7}, OptionError, "algorithm_list is 7"),
    ({"floating_base": 1}, OptionError, "floating_base is 1, expected True or False"),
    ({"lazy": "yes"}, OptionError, "lazy is 'yes', expected True or False"),
    ({"friction_model": "tanh"}, OptionError, "set use_joint_dynamics=True"),
    ({"cpu_level": "sse9"}, OptionError, "unknown instruction-set level 'sse9'"),
    ({"cpu_level": 3}, OptionError, "cpu_level is 3, expected the name of a level"),
    ({"compiler": 3}, OptionError, "compiler is 3, expected a command or path"),
    ({"plugins": [3]}, OptionError, "an entry of plugins is 3, expected a path"),
    ({"plugins": "mine.py"}, OptionError, "plugins is 'mine.py', expected a sequence of paths"),
    ({"backend": ["numpy"]}, OptionError, "backend is .'numpy'., expected one of"),
    ({"dtype": None}, OptionError, "dtype is None, expected one of float32, float64"),
    ({"dtype": np.int32}, OptionError, "dtype is 'int32', expected one of float32, float64"),
    ({"compiler": "no-such-compiler"}, grid_rbd.ToolchainError, "no-such-compiler"),
    ({"threads": 0}, OptionError, "threads is 0"),
    ({"plugins": ["no/such/plugin.py"]}, grid_rbd.PluginError, "plugin.py does not exist"),
]


@pytest.mark.parametrize("backend", ["jax", "torch"])
@pytest.mark.parametrize("function", [grid_rbd.register_robot, grid_rbd.build_plan, grid_rbd.warm_robot])
def test_frameworks_that_are_not_installed(
    function: Callable[..., Any], backend: str, stub: Stub, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grid_rbd.backends.find_spec", lambda name: None)
    with pytest.raises(
        FrameworkMissingError, match=rf"'{backend}' is not installed; pip install 'grid-rbd\[{backend}\]'"
    ):
        function("arm", PENDULUM, cache_dir=root, compiler=stub.command, backend=backend)
    assert (stub.compiled(), root.exists()) == ([], False), "refused before anything is touched"


@pytest.mark.parametrize(("options", "error", "message"), WRONG)
@pytest.mark.parametrize("mode", [{}, {"lazy": True}])
def test_wrong_values_build_and_bind_nothing(
    options: dict[str, Any], error: type[Exception], message: str, mode: dict[str, Any], stub: Stub, root: Path
) -> None:
    with pytest.raises(error, match=message):
        grid_rbd.register_robot("arm", PENDULUM, cache_dir=root, **{"compiler": stub.command, **mode, **options})
    assert stub.compiled() == []
    assert grid_rbd.list_registered(root) == []


FUNCTIONS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (grid_rbd.register_robot, ("arm", PENDULUM)),
    (grid_rbd.load_robot, (PENDULUM,)),
    (grid_rbd.get_robot, ("arm",)),
    (grid_rbd.warm_robot, ("arm", PENDULUM)),
    (grid_rbd.precompile, ("arm", PENDULUM)),
    (grid_rbd.build_plan, ("arm", PENDULUM)),
    (grid_rbd.generate_header, (PENDULUM,)),
]


@pytest.mark.parametrize(("function", "arguments"), FUNCTIONS, ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.parametrize(("wrong", "right"), [("floatingbase", "floating_base"), ("cuda_ach", "cuda_arch")])
def test_unknown_arguments_get_the_nearest(
    function: Callable[..., Any], arguments: tuple[Any, ...], wrong: str, right: str
) -> None:
    message = (
        rf"{function.__name__}\(\) takes no argument '{wrong}'; did you mean .*'{right}'.*\?; it takes .*floating_base"
    )
    for kind in (OptionError, TypeError):
        with pytest.raises(kind, match=message):
            function(*arguments, **{wrong: True})


def test_the_public_functions_keep_their_signatures() -> None:
    for function, _ in FUNCTIONS:
        assert function.__doc__
        assert inspect.signature(function).return_annotation
    assert list(inspect.signature(grid_rbd.register_robot).parameters)[:2] == ["name", "urdf_path"]


BASIC: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    *((f, {"name": 3}, r"name is 3, expected the name of a robot \(str\)") for f, _ in FUNCTIONS[:6]),
    *((f, {"cache_dir": 3}, "cache_dir is 3, expected the path of a folder") for f, _ in FUNCTIONS[:6]),
    *((f, {"cache_dir": b"x"}, "cache_dir is b'x', expected the path") for f, _ in FUNCTIONS[:6]),
    *((f, {"cache_dir": ""}, "cache_dir is '', .* or None for the default one") for f, _ in FUNCTIONS[:6]),
    (grid_rbd.register_robot, {"cache_dir": "a\0b"}, r"cache_dir is 'a\\x00b', expected the path"),
    (grid_rbd.register_robot, {"force_rebuild": "yes"}, "force_rebuild is 'yes', expected True or False"),
    (grid_rbd.warm_robot, {"plan_only": 1}, "plan_only is 1, expected True or False"),
    (grid_rbd.warm_robot, {"force_rebuild": 1}, "force_rebuild is 1, expected True or False"),
    (grid_rbd.warm_robot, {"threads": "all"}, "threads is 'all'; set an integer"),
    (grid_rbd.precompile, {"tiers": 3}, "tiers has the entry 3, expected dicts of options"),
    (grid_rbd.precompile, {"tiers": {"dtype": "float64"}}, "tiers has the entry 'dtype', expected dicts of options"),
    (grid_rbd.precompile, {"tiers": [{}, {"name": "x"}]}, "unknown option 'name'"),
    (grid_rbd.precompile, {"backends": "numpy"}, "backends is 'numpy', expected a sequence of names"),
    (grid_rbd.precompile, {"executor": "threads"}, "executor is 'threads', expected one of concurrent.futures"),
    (grid_rbd.build_plan, {"force_rebuild": 1}, "force_rebuild is 1, expected True or False"),
    (grid_rbd.precompile, {"backends": 3}, "backends is 3, expected a sequence of names"),
    (grid_rbd.generate_header, {"namespace": 3}, "namespace is 3, expected a C.. identifier"),
    (grid_rbd.list_registered, {"cache_dir": 3}, "cache_dir is 3, expected the path"),
    (grid_rbd.gc_cache, {"cache_dir": 3}, "cache_dir is 3, expected the path"),
    (grid_rbd.gc_cache, {"cache_dir": ""}, "cache_dir is '', expected the path of a folder"),
    (grid_rbd.gc_cache, {"execute": "yes"}, "execute is 'yes', expected True or False"),
    (grid_rbd.gc_cache, {"objects_days": "old"}, "objects_days is 'old', expected a number of days"),
    (grid_rbd.gc_cache, {"max_bytes": "much"}, "max_bytes is 'much', expected a number of bytes of at least 0"),
    (grid_rbd.gc_cache, {"minimum_hours": float("nan")}, "minimum_hours is nan, expected a number of hours"),
    (grid_rbd.gc_cache, {"objects_days": -1}, "objects_days is -1, expected a number of days of at least 0"),
]


@pytest.mark.parametrize(("function", "given", "message"), BASIC)
def test_arguments_of_the_wrong_type(
    function: Callable[..., Any], given: dict[str, Any], message: str, stub: Stub, root: Path
) -> None:
    taken = inspect.signature(function).parameters
    usual = {"name": "arm", "urdf_path": PENDULUM, "cache_dir": root}
    arguments = {name: value for name, value in usual.items() if name in taken or name in given} | given
    with pytest.raises(OptionError, match=message):
        function(**arguments)
    assert (stub.compiled(), root.exists()) == ([], False), "refused before anything is touched"


NAMING = (grid_rbd.register_robot, grid_rbd.load_robot, grid_rbd.warm_robot, grid_rbd.precompile, grid_rbd.build_plan)


@pytest.mark.parametrize("function", NAMING)
@pytest.mark.parametrize("name", ["", " ", ".", "..", "../x", "/a", "a//b", "a\\..\\b", "a\nb", "a\0"])
def test_names_that_could_be_paths_are_refused(function: Callable[..., Any], name: str, stub: Stub, root: Path) -> None:
    with pytest.raises(OptionError, match=r"name is .*, expected printable text such as") as raised:
        function(name=name, urdf_path=PENDULUM, cache_dir=root)
    assert repr(name) in str(raised.value)
    assert not root.exists()


def test_a_robot_that_is_not_registered(root: Path) -> None:
    with pytest.raises(grid_rbd.RobotNotRegisteredError, match=r"; none is \(list_registered\(\) .*; register_robot"):
        grid_rbd.get_robot("arm", root)
    for number in range(12):
        grid_rbd.register_robot(f"arm{number:02}", PENDULUM, cache_dir=root, device="reference")
    with pytest.raises(
        grid_rbd.RobotNotRegisteredError, match=r"did you mean .*; registered are arm00, .*arm09, \.\.\. "
    ):
        grid_rbd.get_robot("arm", root)


def test_exactly_one_description(stub: Stub, root: Path) -> None:
    for given in ({}, {"urdf_path": PENDULUM, "urdf_string": PENDULUM.read_text()}):
        with pytest.raises(OptionError, match=r"give exactly one of urdf_path .* and urdf_string"):
            grid_rbd.register_robot("arm", cache_dir=root, **given)
        with pytest.raises(ValueError, match="exactly one"):
            grid_rbd.load_robot(cache_dir=root, **given)
    with pytest.raises(FileNotFoundError):
        grid_rbd.register_robot("arm", "no/such/file.urdf", cache_dir=root)


def test_every_documented_argument_is_accepted(stub: Stub, root: Path) -> None:
    robot = grid_rbd.register_robot(
        "arm", str(PENDULUM), urdf_string=None, floating_base=False, ee_joint_names=("joint2",),
        max_batch_size=np.int64(64), cache_dir=str(root), force_rebuild=False, cuda_arch=None, backend="numpy",
        cuda_archs=None,
        dtype="float64", runtime_inertia=False, runtime_transform=False, runtime_joint_dynamics=False,
        use_joint_dynamics=True, friction_model="tanh",
        friction_width=0.05, enable_tool=False, contact_frames=None, cost_frames=None, output_convention="mujoco",
        algorithm_list="crba", enable_mujoco_kernels=False, device="cpu", lazy=False, threads=2, follow_mimic=True,
        cpu_level="x86-64-v2", compiler=stub.command, plugins=(), _profile_overlay="torch",
    )  # fmt: skip
    assert (robot.name, robot.dtype, robot.device, robot.max_batch, robot.num_ees) == ("arm", "float64", "cpu", 64, 1)
    assert (robot.threads, robot.output_convention) == (2, "mujoco")
    facts = {"cpu_level": "x86-64-v2", "algorithm_list": ["crba"], "lazy": False, "cuda_arch": None, "cuda_archs": None}
    assert facts.items() <= robot.meta.items()
    assert stub.compiled() == ["crba"]


def test_handle_choices_do_not_build_again(stub: Stub, root: Path) -> None:
    base: dict[str, Any] = {"cache_dir": root, "compiler": stub.command, "algorithm_list": "crba"}
    grid_rbd.register_robot("arm", PENDULUM, **base)
    stub.compiled()
    for free in (
        {"output_convention": "mujoco"}, {"threads": 3}, {"max_batch_size": 7}, {"ee_joint_names": "joint1"},
        {"enable_mujoco_kernels": False}, {"_profile_overlay": None}, {"lazy": True}, {"device": "reference"},
    ):  # fmt: skip
        grid_rbd.register_robot("arm", PENDULUM, **base, **free)
    grid_rbd.register_robot("other name", urdf_string=PENDULUM.read_text(), **base)
    assert stub.compiled() == []
    assert grid_rbd.list_registered(root) == ["arm", "other name"]


def test_derived_names(stub: Stub, root: Path) -> None:
    import hashlib

    base: dict[str, Any] = {"cache_dir": root, "compiler": stub.command, "algorithm_list": "crba"}
    digest = hashlib.sha256(PENDULUM.read_bytes()).hexdigest()[:12]
    assert grid_rbd.load_robot(PENDULUM, **base).name == f"double_pendulum_continuous_fixed_{digest}"
    assert grid_rbd.load_robot(PENDULUM, floating_base=True, **base).name.endswith(f"_floating_{digest}")
    assert grid_rbd.load_robot(urdf_string=PENDULUM.read_text(), **base).name == f"inline_fixed_{digest}"
    assert grid_rbd.load_robot(PENDULUM, name="mine", **base).name == "mine"
    assert stub.compiled() == ["crba", "crba"], "one for each base"


def test_registering_something_else_replaces_the_binding(stub: Stub, root: Path) -> None:
    base: dict[str, Any] = {"cache_dir": root, "compiler": stub.command, "algorithm_list": "crba"}
    assert grid_rbd.register_robot("arm", PENDULUM, **base).nv == 2
    assert grid_rbd.register_robot("arm", GOLDEN / "iiwa14.urdf", **base).nv == 7
    assert grid_rbd.get_robot("arm", root).nv == 7
    assert grid_rbd.register_robot("arm", PENDULUM, **base).nv == 2
    assert stub.compiled() == ["crba", "crba"]


def test_force_rebuild(stub: Stub, root: Path) -> None:
    base: dict[str, Any] = {"cache_dir": root, "compiler": stub.command, "algorithm_list": "minv"}
    grid_rbd.register_robot("arm", PENDULUM, **base)
    grid_rbd.register_robot("arm", PENDULUM, **base, force_rebuild=True)
    assert stub.compiled() == ["crba", "crba", "minv", "minv"]


@pytest.mark.parametrize("dtype", [np.float64, np.dtype("float64"), "float64"])
def test_dtypes_of_numpy_are_the_same_build(dtype: Any) -> None:
    assert make_wish(description_of(PENDULUM, None), {"dtype": dtype}).request.options.dtype == "float64"


def test_warnings_point_at_the_user_s_call(root: Path) -> None:
    text = PENDULUM.read_text("utf-8").replace("<link", '<link colour="red"', 1)
    with pytest.warns(URDFWarning, match="colour") as caught:
        grid_rbd.load_robot(urdf_string=text, device="reference", cache_dir=root)
    assert {warning.filename for warning in caught} == {__file__}


XML = "<robot name='r'><link name='a'/></robot>"


def test_text_is_text_whatever_encoding_its_file_had(root: Path) -> None:
    text = "<?xml version='1.0' encoding='ISO-8859-1'?><robot name='r'><link name='stütze'/></robot>"
    for given in (text, text.encode("latin-1")):
        robot = grid_rbd.load_robot(urdf_string=given, device="reference", cache_dir=root)
        assert [frame.name for frame in grid_rbd.get_robot(robot.name, root).frames] == ["stütze"]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"urdf_path": "nope.urdf"}, FileNotFoundError, "nope.urdf: there is no such file"),
        ({"urdf_path": "nope.urdf"}, grid_rbd.URDFParseError, "nope.urdf: there is no such file"),
        ({"urdf_path": XML}, FileNotFoundError, "looks like XML text.*pass the text as urdf_string"),
        ({"urdf_path": XML * 200}, FileNotFoundError, "looks like XML text.*pass the text as urdf_string"),
        ({"urdf_path": ""}, grid_rbd.URDFParseError, "path of the description is empty"),
        ({"urdf_path": "."}, grid_rbd.URDFParseError, "is a directory"),
        ({"urdf_path": 3}, OptionError, "urdf_path is 3, expected a path"),
        ({"urdf_path": b"x"}, OptionError, "urdf_path is b'x', expected a path"),
        ({"urdf_path": io.StringIO(XML)}, OptionError, "urdf_path is <_io.StringIO.*, expected a path"),
        ({"urdf_string": 3}, OptionError, "urdf_string is 3, expected the text"),
        ({"urdf_string": "arm.urdf"}, grid_rbd.URDFParseError, "urdf_string is 'arm.urdf'.*pass a path as urdf_path"),
        ({"urdf_string": "<robot name='\ud800'/>"}, grid_rbd.URDFParseError, "not well-formed"),
        (
            {"urdf_string": b"<robot name='\xff'/>"},
            grid_rbd.URDFParseError,
            "0xff is not UTF-8.*; save the text as UTF-8",
        ),
    ],
)
def test_descriptions_that_are_none(given: dict[str, Any], error: type[Exception], message: str, root: Path) -> None:
    with pytest.raises(error, match=message) as raised:
        grid_rbd.load_robot(device="reference", cache_dir=root, **given)
    assert isinstance(raised.value, grid_rbd.GridError)
