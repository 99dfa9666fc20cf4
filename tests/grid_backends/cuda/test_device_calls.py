"""Calls on device arrays: what is launched where, with which arguments, and what is refused."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from grid_backends.native import DeviceArray, to_device
from grid_core.errors import ArgumentError
from tests.grid_backends.cuda.fakes import DlpackArray, FakeDriver, InterfaceArray
from tests.grid_backends.toys import expected

NV, NQ, NF = 8, 9, 18
STREAM = 0x7000


def call(function: Any, q: Any, qd: Any, qdd: Any = None, gravity: Any = None, f_ext: Any = None, **more: Any) -> Any:
    arguments = (q, qd, qdd, gravity, f_ext, more.get("probe"))
    return function(arguments, more.get("out"), more.get("stream"))


def on_device(*arrays: np.ndarray, stream: int | None = None) -> list[InterfaceArray]:
    return [InterfaceArray(a, stream) for a in arrays]


@pytest.mark.parametrize("batch", [(), (1,), (31,), (33,), (2, 5), (3, 1, 2)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_evaluates_a_batch_or_one_sample(open_toy: Any, samples: Any, batch: tuple[int, ...], dtype: str) -> None:
    q, qd = samples(*batch, dtype=dtype)
    tau = call(open_toy(dtype=dtype), *on_device(q, qd))
    assert isinstance(tau, DeviceArray)
    assert (tau.shape, tau.dtype, tau.device) == ((*batch, NV), dtype, "cuda:0")
    np.testing.assert_allclose(tau.numpy(), expected(q, qd), rtol=1e-5)


def test_an_empty_batch_launches_nothing(fake: FakeDriver, toy: Any, samples: Any) -> None:
    tau = call(toy, *on_device(*samples(0)))
    assert tau.shape == (0, NV)
    assert tau.numpy().shape == (0, NV)
    assert fake.launches() == []


def test_nothing_is_copied_and_nobody_waits(fake: FakeDriver, toy: Any, samples: Any) -> None:
    call(toy, *on_device(*samples(5)))
    assert not {"cuMemcpyDtoH", "cuStreamSynchronize", "cuMemHostAlloc"} & set(fake.names())


def test_reads_rows_that_are_apart_or_repeated(toy: Any, samples: Any) -> None:
    q, qd = samples(10)
    wide = np.concatenate([q, qd], axis=1)
    tau = call(toy, *on_device(wide[::2, :NQ], wide[::2, NQ:]))
    np.testing.assert_allclose(tau.numpy(), expected(q, qd)[::2])
    repeated = np.broadcast_to(q[0], (10, NQ))
    np.testing.assert_allclose(call(toy, *on_device(repeated, qd)).numpy(), expected(q[0], qd))


def test_shares_arrays_without_batch(toy: Any, samples: Any) -> None:
    (q, _), (_, qd) = samples(), samples(5)
    np.testing.assert_allclose(call(toy, *on_device(q, qd)).numpy(), expected(q, qd))


def test_numbers_and_short_vectors_travel_with_the_launch(fake: FakeDriver, toy: Any, samples: Any) -> None:
    q, qd = samples(3)
    arrays = on_device(q, qd)
    for gravity, value in [(None, -9.81), (2.5, 2.5), (3, 3.0), ([1.0, 2.0, 4.0], 4.0), (np.arange(3.0), 2.0)]:
        np.testing.assert_allclose(call(toy, *arrays, gravity=gravity).numpy(), expected(q, qd, gravity=value))
    np.testing.assert_allclose(call(toy, *arrays, f_ext=np.full(NF, 2.0)).numpy(), expected(q, qd, f_ext=2.0))
    shared = call(toy, q[0], *on_device(qd))
    np.testing.assert_allclose(shared.numpy(), expected(q[0], qd))
    gravity = InterfaceArray(np.array([[0.0, 0.0, 1.0]] * 3))
    np.testing.assert_allclose(call(toy, *arrays, gravity=gravity).numpy(), expected(q, qd, gravity=1.0))


def test_picks_the_variant_without_what_is_left_out(fake: FakeDriver, toy: Any, samples: Any) -> None:
    q, qd = samples(2)
    assert call(toy, *on_device(q, qd), probe=1.0).numpy()[0, 0] == pytest.approx(expected(q, qd)[0, 0] + 1)
    assert call(toy, *on_device(q, qd, qd), probe=1.0).numpy()[0, 0] == pytest.approx(expected(q, qd, qd)[0, 0] + 2)
    assert [launch["kernel"] for launch in fake.launches()] == ["toy_without_qdd_w4", "toy_w4"]


# Four multiprocessors hold 16 blocks of 4 warps, and 64 of one; a wave of the former takes 0.85 times as long.
@pytest.mark.parametrize(
    ("batch", "kernel", "blocks"),
    [(1, "w4", 1), (33, "w4", 2), (512, "w4", 16), (513, "w1", 17), (2048, "w1", 64), (2049, "w1", 64)],
)
def test_the_shape_that_is_done_first_is_taken(
    fake: FakeDriver, toy: Any, samples: Any, batch: int, kernel: str, blocks: int
) -> None:
    call(toy, *on_device(*samples(batch)))
    (launch,) = fake.launches()
    assert (launch["kernel"], launch["blocks"], launch["batch"]) == (f"toy_without_qdd_{kernel}", blocks, batch)
    assert (launch["threads"], launch["shared"]) == (32 * int(kernel[1:]), 3000)


def test_one_warp_that_needs_much_memory_is_avoided(fake: FakeDriver, open_toy: Any, samples: Any) -> None:
    arguments = on_device(*samples(1024))
    call(open_toy(), *arguments)
    fake.local_bytes(2000)
    call(open_toy(), *arguments)
    fake.local_bytes(0)
    assert [launch["kernel"][-2:] for launch in fake.launches()] == ["w1", "w4"]


def test_a_table_replaces_the_choice(fake: FakeDriver, toy: Any, samples: Any) -> None:
    toy.set_profile([(100, "w1"), (1000, "w4")])
    for batch in (100, 101, 1001):
        call(toy, *on_device(*samples(batch)))
    assert [launch["kernel"][-2:] for launch in fake.launches()] == ["w1", "w4", "w4"]
    assert toy.shape_for([True] * 6, 50) == "w1"
    toy.set_profile([])
    assert toy.shape_for([True] * 6, 50) == "w4"


def test_a_profile_may_name_shapes_that_were_not_built(toy: Any) -> None:
    toy.set_profile([(10000, "w32")])
    assert toy.shape_for([True] * 6, 50) == "w4"


def test_the_block_is_limited_before_anything_else(toy: Any) -> None:
    toy.set_profile([(10000, "w4")])
    for threads, shape in ((127, "w1"), (128, "w4"), (1, "w1"), (-1, "w4")):
        toy.set_most_threads(threads)
        assert toy.shape_for([True] * 6, 50) == shape


def test_calls_are_timed_in_a_graph(fake: FakeDriver, toy: Any, samples: Any) -> None:
    q, qd = samples(50)
    out = to_device(np.zeros((50, NV)))
    fake.clear()
    assert toy.time((to_device(q), to_device(qd), None, None, None, None), out, 10, 3) == pytest.approx(3e-4)
    assert len(fake.launches()) == 11
    assert len(fake.log("cuGraphLaunch")) == 4
    np.testing.assert_allclose(out.numpy(), expected(q, qd))


def test_an_array_is_copied_to_the_device(fake: FakeDriver, native: ModuleType, samples: Any) -> None:
    q, _ = samples(3, 2)
    assert to_device(q).shape == (3, 2, NQ)
    np.testing.assert_array_equal(to_device(q[::2]).numpy(), q[::2])
    with pytest.raises(ArgumentError, match="float32 or float64"):
        to_device(np.zeros(3, int))


def test_scratch_is_for_the_blocks_that_run_at_once(fake: FakeDriver, open_toy: Any, samples: Any) -> None:
    toy = open_toy(scratch=1000)
    out = InterfaceArray(np.zeros((5000, NV)))
    call(toy, *on_device(*samples(5000)), out=out)
    assert fake.log("cuMemAlloc") == [["524288"]]  # 64 blocks of 1000 scalars, rounded up
    assert fake.launches()[0]["scratch"] != 0


class TestOut:
    def test_is_written_and_returned(self, toy: Any, samples: Any) -> None:
        q, qd = samples(3)
        out = InterfaceArray(np.zeros((3, NV)))
        assert call(toy, *on_device(q, qd), out=out) is out
        np.testing.assert_allclose(out.array, expected(q, qd))

    def test_may_have_rows_apart(self, toy: Any, samples: Any) -> None:
        q, qd = samples(3)
        wide = np.zeros((3, 2 * NV))
        call(toy, *on_device(q, qd), out=InterfaceArray(wide[:, :NV]))
        np.testing.assert_allclose(wide[:, :NV], expected(q, qd))
        assert not wide[:, NV:].any()

    def test_may_be_flat_and_several(self, open_toy: Any, samples: Any) -> None:
        q, qd = samples(3)
        tau, outer = np.zeros((3, NV)), np.zeros((3, NV * NV))
        result = call(open_toy("pair_of_toys"), *on_device(q, qd), out=tuple(on_device(tau, outer)))
        assert type(result).__name__ == "PairOfToys"
        np.testing.assert_allclose(tau, expected(q, qd))
        np.testing.assert_allclose(outer.reshape(3, NV, NV), qd[:, :, None] * np.arange(1, NV + 1))

    @pytest.mark.parametrize(
        ("out", "message"),
        [
            (InterfaceArray(np.zeros((4, NV))), r"has shape \(4, 8\), expected \(3, 8\)"),
            (InterfaceArray(np.zeros((3, NV), "f4")), "has dtype f4, expected f8"),
            (InterfaceArray(np.zeros((3, NV)), read_only=True), "is read-only"),
            (InterfaceArray(np.zeros((3, 2 * NV))[:, ::2]), "has strides .*; pass a C-contiguous array"),
            (InterfaceArray(np.broadcast_to(np.zeros(NV), (3, NV))), "overlaps itself"),
            (np.zeros((3, NV)), "is a numpy.ndarray in host memory, and the call is on 'cuda:0'"),
            ((InterfaceArray(np.zeros((3, NV))),) * 2, "found 2"),
        ],
    )
    def test_that_does_not_fit_is_refused(self, toy: Any, samples: Any, out: Any, message: str) -> None:
        with pytest.raises(ArgumentError, match=f"toy: out .*{message}"):
            call(toy, *on_device(*samples(3)), out=out)

    def test_that_overlaps_an_input_is_refused(self, toy: Any, samples: Any) -> None:
        q, qd = samples(3)
        with pytest.raises(ArgumentError, match="out for 'tau' overlaps argument 'qd'; pass separate memory"):
            call(toy, *on_device(q, qd), out=InterfaceArray(qd))

    def test_that_overlaps_another_is_refused(self, open_toy: Any, samples: Any) -> None:
        both = np.zeros(3 * (NV + NV * NV))
        out = on_device(both[: 3 * NV].reshape(3, NV), both[NV : NV + 3 * NV * NV].reshape(3, NV * NV))
        with pytest.raises(ArgumentError, match="out for 'outer' overlaps that for 'tau'"):
            call(open_toy("pair_of_toys"), *on_device(*samples(3)), out=tuple(out))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"qd": InterfaceArray(np.zeros((3, 7)))}, r"argument 'qd' has shape \(3, 7\), expected shape \(..., 8\)"),
        ({"qd": InterfaceArray(np.zeros((4, NV)))}, r"argument 'qd' has batch shape \(4,\), expected \(3,\)"),
        (
            {"qd": InterfaceArray(np.zeros((3, NV), "f4"))},
            "argument 'qd' has dtype f4, expected f8, .*convert it first",
        ),
        ({"qd": InterfaceArray(np.zeros((3, NV), "i8"))}, "argument 'qd' has dtype i8, expected f8"),
        (
            {"qd": InterfaceArray(np.zeros((3, 2 * NV))[:, ::2])},
            "argument 'qd' has strides .*pass a C-contiguous array",
        ),
        ({"qd": InterfaceArray(np.zeros((NV, 6)).T[::2])}, "argument 'qd' has strides"),
        ({"qd": np.zeros((3, NV))}, "argument 'qd' is in host memory and other arrays of the call are on a device"),
        ({"qd": None}, "argument 'qd' is required and was not given"),
        ({"gravity": "down"}, "argument 'gravity' cannot be read as an array of real numbers"),
        ({"f_ext": 1.0}, "argument 'f_ext' is in host memory"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(toy: Any, samples: Any, changes: dict[str, Any], message: str) -> None:
    q, qd = on_device(*samples(3))
    with pytest.raises(ArgumentError, match=f"toy: {message}"):
        call(toy, **{"q": q, "qd": qd, **changes})


def test_host_vectors_have_to_be_short(toy: Any, samples: Any) -> None:
    q, qd = samples(3)
    with pytest.raises(ArgumentError, match="'f_ext' is in host memory and too long to travel with the launch"):
        call(toy, q[0], *on_device(qd), qdd=qd[0], f_ext=np.zeros(NF))


def test_units_have_room_for_what_they_were_built_for(open_toy: Any, samples: Any) -> None:
    q, qd = samples(3)
    f_ext = np.arange(float(NF))
    toy = open_toy(small_bytes=1024)
    rows = (np.tile(row, (3, 1)) for row in (qd[0], f_ext))
    qdd, wrenches = on_device(*rows)
    apart = call(toy, *on_device(np.tile(q[0], (3, 1)), qd), qdd=qdd, f_ext=wrenches)
    shared = call(toy, q[0], *on_device(qd), qdd=qd[0], f_ext=f_ext)
    np.testing.assert_array_equal(shared.numpy(), apart.numpy())


def test_an_array_on_another_device_is_refused(open_toy: Any, samples: Any) -> None:
    q, qd = on_device(*samples(3))
    elsewhere = call(open_toy(device=1), q, qd)
    assert elsewhere.device == "cuda:1"
    with pytest.raises(ArgumentError, match="'qd' is on 'cuda:1', expected 'cuda:0', where this handle runs"):
        call(open_toy(), q, elsewhere)


class TestBatchLast:
    def test_results_are_strided(self, open_toy: Any, samples: Any) -> None:
        pair = open_toy("pair_of_toys")
        pair.set_batch_last(True)
        q, qd = samples(2, 5)
        result = call(pair, *on_device(q, qd))
        assert result.tau.__cuda_array_interface__["strides"] == (40, 8, 80)
        assert result.outer.numpy().strides == (40, 8, 640, 80)
        np.testing.assert_allclose(result.tau.numpy(), expected(q, qd))
        np.testing.assert_allclose(result.outer.numpy(), qd[..., None] * np.arange(1, NV + 1))

    def test_results_are_arguments_by_every_protocol(self, toy: Any, samples: Any) -> None:
        toy.set_batch_last(True)
        q, qd = samples(5)
        tau = call(toy, *on_device(q, qd))
        for again in (tau, DlpackArray(tau), InterfaceArray(tau.numpy())):
            result = call(toy, q[0], again)
            np.testing.assert_allclose(result.numpy(), expected(q[0], expected(q, qd)))

    def test_one_sample_is_the_same(self, toy: Any, samples: Any) -> None:
        toy.set_batch_last(True)
        for batch in [(), (1,), (0,)]:
            assert call(toy, *on_device(*samples(*batch))).__cuda_array_interface__["strides"] is None

    def test_out_is_written_in_place(self, toy: Any, samples: Any) -> None:
        q, qd = samples(5)
        memory = np.zeros((NV, 9))
        call(toy, *on_device(q, qd), out=InterfaceArray(memory[:, 2:7].T))
        np.testing.assert_allclose(memory[:, 2:7].T, expected(q, qd))
        assert not memory[:, :2].any()

    def test_out_that_overlaps_an_input_is_refused(self, toy: Any, samples: Any) -> None:
        q, qd = samples(5)
        memory = np.ascontiguousarray(qd.T)
        with pytest.raises(ArgumentError, match="out for 'tau' overlaps argument 'qd'"):
            call(toy, *on_device(q, memory.T), out=InterfaceArray(memory.T))


class TestStreams:
    def test_default_to_that_of_the_arrays(self, fake: FakeDriver, toy: Any, samples: Any) -> None:
        q, qd = samples(2)
        for stream, used in [(None, 1), (1, 1), (STREAM, STREAM)]:
            tau = call(toy, *on_device(q, qd, stream=stream))
            assert tau.stream == used
            assert tau.__cuda_array_interface__["stream"] == used
        assert [launch["stream"] for launch in fake.launches()] == [1, 1, STREAM]
        assert fake.log("cuStreamWaitEvent") == []

    @pytest.mark.parametrize(
        "stream",
        [
            STREAM,
            SimpleNamespace(cuda_stream=STREAM),
            SimpleNamespace(ptr=STREAM),
            SimpleNamespace(__cuda_stream__=(0, STREAM)),
            SimpleNamespace(__cuda_stream__=lambda: (0, STREAM)),
        ],
    )
    def test_are_given_in_many_ways(self, fake: FakeDriver, toy: Any, samples: Any, stream: Any) -> None:
        call(toy, *on_device(*samples(2)), stream=stream)
        assert fake.launches()[0]["stream"] == STREAM

    def test_wait_for_the_streams_of_inputs(self, fake: FakeDriver, toy: Any, samples: Any) -> None:
        q, qd = samples(2)
        call(toy, InterfaceArray(q, 0x8000), InterfaceArray(qd), stream=STREAM)
        assert fake.log("cuEventRecord") == [[str(0x8000)]]
        assert fake.log("cuStreamWaitEvent") == [[str(STREAM)]]
        names = fake.names()
        assert names.index("cuStreamWaitEvent") < names.index("cuLaunchKernel")

    def test_of_other_kinds_are_refused(self, toy: Any, samples: Any) -> None:
        with pytest.raises(ArgumentError, match="stream is a str; pass the stream's integer handle"):
            call(toy, *on_device(*samples(2)), stream="main")


class TestProtocols:
    def test_results_are_arguments(self, toy: Any, samples: Any) -> None:
        q, qd = samples(3)
        tau = call(toy, *on_device(q, qd))
        np.testing.assert_allclose(call(toy, q[0], tau).numpy(), expected(q[0], expected(q, qd)))

    def test_dlpack_is_read_in_order_with_its_producer(self, fake: FakeDriver, toy: Any, samples: Any) -> None:
        q, qd = samples(3)
        tau = call(toy, *on_device(q, qd), stream=STREAM)
        exported = DlpackArray(tau)
        again = call(toy, q[0], exported, stream=0x8000)
        assert exported.streams == [0x8000]
        assert fake.log("cuStreamWaitEvent") == [[str(0x8000)]]
        np.testing.assert_allclose(again.numpy(), expected(q[0], expected(q, qd)))

    def test_dlpack_exports_keep_the_memory(self, toy: Any, samples: Any) -> None:
        q, qd = samples(3)
        exported = DlpackArray(call(toy, *on_device(q, qd)))
        call(toy, *on_device(q, 2 * qd))
        np.testing.assert_allclose(call(toy, q[0], exported).numpy(), expected(q[0], expected(q, qd)))

    @pytest.mark.parametrize("wrong", [{"dl_device": (1, 0)}, {"copy": True}])
    def test_dlpack_makes_no_copies(self, toy: Any, samples: Any, wrong: dict[str, Any]) -> None:
        with pytest.raises(BufferError):
            call(toy, *on_device(*samples(2))).__dlpack__(**wrong)

    def test_dlpack_says_where_it_is(self, open_toy: Any, samples: Any) -> None:
        tau = call(open_toy(device=1), *on_device(*samples(2)))
        assert tau.__dlpack_device__() == (2, 1)
        assert '"dltensor"' in repr(tau.__dlpack__(stream=-1, dl_device=(2, 1), copy=False))

    def test_arrays_in_host_memory_are_no_device_arrays(self, toy: Any, samples: Any) -> None:
        class Host:
            def __init__(self, array: np.ndarray) -> None:
                self.array = array

            def __dlpack_device__(self) -> tuple[int, int]:
                return (1, 0)

            def __dlpack__(self, **_: Any) -> Any:
                raise AssertionError

            @property
            def __cuda_array_interface__(self) -> Any:
                raise AttributeError

        assert call(toy, *map(Host, samples(2))) is NotImplemented
