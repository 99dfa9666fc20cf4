"""Methods of several kernels on device arrays: nothing goes through the host, and everything is on one stream."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from grid_backends.native import DeviceArray, copy_parts, device_part
from grid_backends.numpy import CudaHandle, RobotRecord, UnitFunctions
from grid_backends.numpy.cuda import BINARY
from grid_core.errors import ArgumentError
from grid_core.model import Model
from grid_core.plugins.algorithm import Choice, Input, Output, Scan
from tests.grid_backends.cuda.fakes import DlpackArray, FakeDriver, InterfaceArray, write_unit
from tests.grid_backends.toys import INPUTS, TOY, expected

STREAM = 0x7000
HOST = {"cuMemcpyDtoH", "cuMemcpyHtoD", "cuStreamSynchronize", "cuMemHostAlloc"}

PROBES = Input("probe", (), "Several of them", read=lambda _, given: given["probe"], each=True, keyword_only=True)
EACH = replace(TOY, inputs=(*INPUTS[:-1], PROBES))
PATH = Output("path", ("nv",), "Velocities on the way.")
TAUS = Output("taus", ("nv",), "Torques on the way.")
MARCH = replace(
    TOY, name="march", emit=None, aliases=(), outputs=(PATH,), requires=("toy",), scan=Scan("toy", ("qd",), ("qdd",))
)
SURVEY = replace(MARCH, name="survey", outputs=(PATH, TAUS), scan=replace(MARCH.scan, beside=("toy",)))


def opened(model: Model, folder: Path, *declared: Any) -> Any:
    record = RobotRecord("flyer", model, {a.name: a for a in declared}, ("toy",), "float64", "cuda")
    return CudaHandle(record, UnitFunctions(record, {"toy": write_unit(folder, model) / BINARY}))


@pytest.fixture
def walker(fake: FakeDriver, native: ModuleType, model: Model, tmp_path: Path) -> Any:
    return opened(model, tmp_path, TOY, MARCH, SURVEY)


@pytest.fixture
def prober(fake: FakeDriver, native: ModuleType, model: Model, tmp_path: Path) -> Any:
    return opened(model, tmp_path, EACH)


def on_device(*arrays: np.ndarray, stream: int | None = None) -> list[InterfaceArray]:
    return [InterfaceArray(array, stream) for array in arrays]


def steps(model: Model, *batch: int, count: int = 3) -> tuple[np.ndarray, ...]:
    generator = np.random.default_rng(1)
    shapes = ((*batch, model.nq), (*batch, model.nv), (*batch, count, model.nv))
    return tuple(generator.normal(size=shape) for shape in shapes)


class TestScan:
    @pytest.mark.parametrize("batch", [(), (1,), (5,), (2, 3), (0,)])
    @pytest.mark.parametrize("count", [0, 1, 3, 7])
    def test_equals_host_arrays(self, walker: Any, model: Model, batch: tuple[int, ...], count: int) -> None:
        given = steps(model, *batch, count=count)
        for name in ("march", "survey"):
            plain, found = getattr(walker, name)(*given), getattr(walker, name)(*on_device(*given))
            plain, found = (value if isinstance(value, tuple) else (value,) for value in (plain, found))
            for a, b in zip(found, plain, strict=True):
                assert isinstance(a, DeviceArray)
                np.testing.assert_array_equal(a.numpy(), b)

    def test_nothing_goes_through_the_host(self, fake: FakeDriver, walker: Any, model: Model) -> None:
        walker.survey(*on_device(*steps(model, 5), stream=STREAM))
        assert not HOST & set(fake.names())
        assert {launch["stream"] for launch in fake.launches()} == {STREAM}
        assert {copy[-1] for copy in fake.log("cuMemcpy2D")} == {str(STREAM)}

    def test_the_stream_of_the_call_waits_for_those_of_arguments(
        self, fake: FakeDriver, walker: Any, model: Model
    ) -> None:
        q, qd, qdd = steps(model, 5)
        walker.march(InterfaceArray(q), InterfaceArray(qd, 0x8000), InterfaceArray(qdd), stream=STREAM)
        names = fake.names()
        assert names.index("cuStreamWaitEvent") < names.index("cuMemcpy2D")
        assert {launch["stream"] for launch in fake.launches()} == {STREAM}

    def test_is_captured(self, fake: FakeDriver, walker: Any, model: Model) -> None:
        given = steps(model, 5)
        fake.capture(STREAM, 7)
        path = walker.march(*on_device(*given, stream=0x8000), stream=STREAM)
        fake.end_capture(STREAM)
        assert fake.log("cuStreamWaitEvent") == []
        np.testing.assert_array_equal(path.numpy(), walker.march(*given))
        del path
        fake.destroy_graph(7)

    @pytest.mark.parametrize("shared", [0, 1, 2])
    @pytest.mark.parametrize("batch", [1, 2, 5, 16])
    def test_shared_arguments(self, walker: Any, model: Model, shared: int, batch: int) -> None:
        given = list(steps(model, batch))
        given[shared] = given[shared][0]
        np.testing.assert_array_equal(walker.march(*on_device(*given)).numpy(), walker.march(*given))
        row = given[2][..., :1, :]
        np.testing.assert_array_equal(
            walker.march(*on_device(*given[:2], row), gravity=-1.0).numpy(), walker.march(*given[:2], row, gravity=-1.0)
        )

    def test_numbers_rows_apart_and_other_layouts(self, walker: Any, model: Model) -> None:
        q, qd, qdd = steps(model, 5)
        last = np.ascontiguousarray(qd.T).T
        wide = np.concatenate([qd, qd], axis=1)[:, : model.nv]
        plain = walker.march(q, qd, qdd, probe=1.0)
        for state in (last, wide):
            found = walker.march(*on_device(q, state, qdd), probe=1.0)
            np.testing.assert_array_equal(found.numpy(), plain)

    def test_steps_may_be_apart(self, walker: Any, model: Model) -> None:
        q, qd, qdd = steps(model, 2, count=7)
        found = walker.survey(*on_device(q, qd, qdd[:, ::2]))
        for a, b in zip(found, walker.survey(q, qd, qdd[:, ::2]), strict=True):
            np.testing.assert_array_equal(a.numpy(), b)

    def test_results_of_calls_are_arguments(self, walker: Any, model: Model) -> None:
        q, qd, qdd = steps(model, 5)
        tau = walker.toy(*on_device(q, qd))
        found = walker.march(InterfaceArray(q), DlpackArray(tau), InterfaceArray(qdd))
        np.testing.assert_array_equal(found.numpy(), walker.march(q, tau.numpy(), qdd))

    def test_memory_of_the_caller(self, walker: Any, model: Model) -> None:
        given = steps(model, 5)
        path, taus = np.zeros((5, 4, model.nv)), np.zeros((5, 3, model.nv))
        out = tuple(on_device(path, taus))
        found = walker.survey(*on_device(*given), out=out)
        assert found.path is out[0]
        plain = walker.survey(*given)
        np.testing.assert_array_equal(path, plain.path)
        np.testing.assert_array_equal(taus, plain.taus)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"qd": np.zeros((5, 8))}, "argument 'qd' is in host memory and other arrays of the call are on a device"),
            ({"qdd": np.zeros((5, 3, 8))}, "argument 'qdd' is in host memory"),
            ({"qdd": InterfaceArray(np.zeros((5, 3, 7)))}, r"argument 'qdd' has shape .* expected \(..., n, 8\) for n"),
            ({"qdd": InterfaceArray(np.zeros(8))}, r"argument 'qdd' has shape \(8,\)"),
            ({"qd": InterfaceArray(np.zeros((4, 8)))}, r"argument 'qd' has batch shape \(4,\), expected \(5,\)"),
            ({"qd": InterfaceArray(np.zeros((5, 8), "f4"))}, "argument 'qd' has dtype f4, expected f8"),
            ({"out": np.zeros((5, 4, 8))}, "out for 'path' is a ndarray in host memory, and the call is on 'cuda:0'"),
            ({"out": InterfaceArray(np.zeros((5, 3, 8)))}, r"out for 'path' has shape .*, expected \(5, 4, 8\)"),
            ({"out": (InterfaceArray(np.zeros((5, 4, 8))),) * 2}, "out has 2 arrays, expected one for each of the 1"),
        ],
    )
    def test_what_does_not_fit_is_refused(
        self, walker: Any, model: Model, changes: dict[str, Any], message: str
    ) -> None:
        given = dict(zip(("q", "qd", "qdd"), on_device(*steps(model, 5))))
        with pytest.raises(ArgumentError, match=f"march: {message}"):
            walker.march(**{**given, **changes})


class TestEach:
    @pytest.mark.parametrize("batch", [(), (5,), (2, 3), (0,)])
    @pytest.mark.parametrize("count", [0, 1, 3])
    @pytest.mark.parametrize("layout", ["batch_first", "batch_last"])
    def test_equals_host_arrays(
        self, fake: FakeDriver, prober: Any, samples: Any, batch: tuple[int, ...], count: int, layout: str
    ) -> None:
        prober.output_layout = layout
        q, qd = samples(*batch)
        probes = np.arange(float(count))
        fake.clear()
        found = prober.toy(*on_device(q, qd, stream=STREAM), probe=probes)
        assert not HOST & set(fake.names())
        assert found.stream == STREAM
        np.testing.assert_array_equal(found.numpy(), prober.toy(q, qd, probe=probes))

    def test_memory_of_the_caller(self, prober: Any, samples: Any, model: Model) -> None:
        q, qd = samples(5)
        result = np.zeros((5, 2, model.nv))
        out = InterfaceArray(result)
        assert prober.toy(*on_device(q, qd), probe=[1.0, 2.0], out=out) is out
        np.testing.assert_allclose(result[:, 1], expected(q, qd, probe=2.0))


def test_stacked_arguments_are_cut(fake: FakeDriver, native: ModuleType, model: Model, tmp_path: Path) -> None:
    pile = Input("pile", ("nx",), "Both in one vector")
    ways = Choice("way", "quick", {"quick": "toy"}, "How.", {"pile": ("q", "qd")})
    piled = replace(
        TOY, name="piled", emit=None, aliases=(), inputs=(pile, *INPUTS[2:]), requires=("toy",), choice=ways
    )
    robot = opened(model, tmp_path, TOY, piled)
    q, qd, _ = steps(model, 5)
    whole = np.concatenate([q, qd], axis=1)
    np.testing.assert_array_equal(robot.piled(InterfaceArray(whole)).numpy(), robot.toy(q, qd))
    np.testing.assert_array_equal(robot.piled(whole), robot.toy(q, qd))
    with pytest.raises(ArgumentError, match="piled: argument 'pile' has shape"):
        robot.piled(InterfaceArray(q))


@pytest.mark.usefixtures("fake", "native")
class TestParts:
    def test_are_taken_as_numpy_takes_them(self) -> None:
        array = np.arange(120.0).reshape(2, 3, 4, 5)
        part = device_part(InterfaceArray(array))
        assert part is not None
        for index in (0, -1, (..., 2), (slice(None), 1), (0, ..., slice(1, 3)), (slice(None, None, 2), 0, slice(0, 0))):
            taken, found = array[index], part[index].__cuda_array_interface__
            assert found["shape"] == taken.shape
            if taken.size:
                assert found["data"] == (taken.ctypes.data, False)
                assert all(a == b for a, b, size in zip(found["strides"], taken.strides, taken.shape) if size > 1)
        assert part.joined(2).shape == (6, 4, 5)
        assert part.joined(0).shape == (1, 2, 3, 4, 5)
        with pytest.raises(ArgumentError, match="not evenly spaced"):
            part[:, :2].joined(2)
        for wrong in (5, (0,) * 5, (0, "a")):
            with pytest.raises((IndexError, TypeError, RuntimeError)):
                part[wrong]

    def test_are_copied_with_the_batch_last(self) -> None:
        source, target = np.arange(12.0).reshape(3, 4).T, np.zeros((4, 6))
        to, given = device_part(InterfaceArray(target)), device_part(InterfaceArray(source))
        assert to is not None
        assert given is not None
        copy_parts(to[:, 1:4], given, 1, 0, STREAM)
        np.testing.assert_array_equal(target[:, 1:4], source)
        assert not target[:, [0, 4, 5]].any()

    def test_there_are_none_in_host_memory(self) -> None:
        for value in (None, 1.0, "a", np.zeros(3), [1.0], (np.zeros(3),)):
            assert device_part(value) is None
