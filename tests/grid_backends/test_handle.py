"""The service side of the NumPy handle."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

import numpy as np
import pytest

from grid_backends.errors import ClosedHandleError, NotAvailableError, ReadOnlyError, UnknownMethodError
from grid_backends.numpy import ReferenceFunctions, RobotHandle
from grid_backends.numpy.unavailable import UNAVAILABLE
from grid_core.errors import (
    AlgorithmNotBuiltError,
    ArgumentError,
    CallError,
    GridError,
    KeywordError,
    OptionError,
    OutOfMemoryError,
    PluginError,
)
from grid_core.kernel.settings import TraceSettings
from grid_core.model import Model, load_model
from tests.grid_backends.toys import TAU, TOY, URDF, declare, evaluate, expected, make_record

NV, NQ = 8, 9


@pytest.fixture
def plain(model: Model) -> RobotHandle:
    """A handle on the reference device."""
    record = make_record(model, max_batch=32, facts={"compiler": {"name": "g++"}})
    return RobotHandle(record, ReferenceFunctions(record, evaluate))


def fixed() -> RobotHandle:
    record = make_record(load_model(URDF))
    return RobotHandle(record, ReferenceFunctions(record, evaluate))


def test_sizes(plain: RobotHandle) -> None:
    assert (plain.nq, plain.nv, plain.nb) == (NQ, NV, 3)
    assert (plain.num_joints, plain.num_vel, plain.num_bodies) == (NQ, NV, 3)
    assert (plain.num_ees, plain.max_batch, plain.ctx_id, plain.model_version) == (1, 32, 0, 1)
    assert (plain.name, plain.dtype, plain.device, plain.floating_base) == ("flyer", "float64", "cpu", True)
    assert plain.configuration_layout[0] == ("floating", 0, 0, 7, 6)
    assert "arm" in [frame.name for frame in plain.frames]
    assert repr(plain) == "<RobotHandle 'flyer' nq=9 nv=8 float64 on cpu>"


def test_named_end_effectors_are_counted(model: Model) -> None:
    record = make_record(model, settings=TraceSettings(end_effectors=("arm", "wheel")))
    assert RobotHandle(record, ReferenceFunctions(record, evaluate)).num_ees == 2


def test_limits_follow_the_joint_ids(plain: RobotHandle) -> None:
    assert plain.joint_names[1:] == ["shoulder", "axle"]
    assert plain.joint_pos_limits == [None, [-1.0, 2.0], None]
    assert plain.joint_vel_limits == [None, 4.0, None]
    assert plain.joint_effort_limits == [None, 3.0, None]


def test_configurations(plain: RobotHandle) -> None:
    np.testing.assert_array_equal(plain.neutral(), [0, 0, 0, 0, 0, 0, 1, 0, 0])
    samples = plain.random(3, 5)
    assert samples.shape == (5, NQ)
    np.testing.assert_array_equal(samples, plain.random(3, 5))
    assert ((samples[:, 7] >= -1) & (samples[:, 7] <= 2)).all()


@pytest.mark.parametrize(("seed", "n"), [("x", 2), (1, 2.5), (-1, 2), (1, -2), (None, 2), (1, True)])
def test_wrong_draws_are_refused(plain: RobotHandle, seed: Any, n: Any) -> None:
    with pytest.raises(ArgumentError, match=r"random: (seed|n) is .*, expected an integer of at least 0"):
        plain.random(seed, n)
    assert plain.random(np.int64(1), np.int32(2)).shape == (2, plain.nq)


@pytest.mark.parametrize("batch", [10**13, 10**16])
def test_results_that_fit_into_no_memory(handle: RobotHandle, batch: int) -> None:
    """More than there is, and more than there could be."""
    q = np.broadcast_to(np.zeros(NQ, handle.dtype), (batch, NQ))
    size = batch * (NV + NV * NV) * np.dtype(handle.dtype).itemsize
    with pytest.raises(OutOfMemoryError, match=f"pair_of_toys: .* take at least {size} bytes; call it with fewer"):
        handle.pair_of_toys(q, np.zeros(NV))


def test_errors_of_arguments_stay_what_they_are(handle: RobotHandle) -> None:
    with pytest.raises(ArgumentError, match="has shape"):
        handle.toy(np.zeros(NQ + 1), np.zeros(NV))


def test_draws_that_fit_into_no_memory(plain: RobotHandle) -> None:
    for n in (10**15, 10**30):
        with pytest.raises(
            OutOfMemoryError, match=rf"n is {n}, .* take {n * NQ * 8} bytes, .*; ask for fewer"
        ) as raised:
            plain.random(0, n)
        assert isinstance(raised.value, MemoryError)


def test_wrong_keywords_get_the_nearest_and_the_signature(plain: RobotHandle) -> None:
    with pytest.raises(
        KeywordError, match=r"^toy\(\) takes no argument 'qddd'; did you mean 'qdd' or .*; it is"
    ) as raised:
        plain.toy(np.zeros(NQ), np.zeros(NV), qddd=np.zeros(NV))
    assert str(raised.value).endswith(" toy(q, qd, qdd=None, *, gravity=-9.81, f_ext=None, probe=None, out=None)")
    assert isinstance(raised.value, TypeError)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda r: r.toy(np.zeros(NQ), np.zeros(NV), None, -9.81, 3),
            "toy() takes 3 positional arguments, and 5 are given; it is toy(q, qd, qdd=None, *, gravity=-9.81, f_ext=",
        ),
        (lambda r: r.random(0, 1, 2), "random() takes 2 positional arguments, and 3 are given; it is random(seed, n)"),
        (lambda r: r.context(1), "context() takes 0 positional arguments, and 1 are given; it is context(*, worksp"),
    ],
)
def test_too_many_arguments_get_the_signature(
    plain: RobotHandle, call: Callable[[RobotHandle], object], message: str
) -> None:
    with pytest.raises(CallError) as raised:
        call(plain)
    assert str(raised.value).startswith(message)
    assert isinstance(raised.value, TypeError)
    assert isinstance(raised.value, ArgumentError)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda r: r.random(sed=0, n=1),
            "random() takes no argument 'sed'; did you mean 'seed'?; it is random(seed, n)",
        ),
        (
            lambda r: r.context(slots=1),
            "context() takes no argument 'slots'; did you mean 'workspace_slots'?; it is context(*, workspace_slots=0)",
        ),
        (lambda r: r.coordinate_block(nr=1), "coordinate_block() takes no argument 'nr'"),
        (lambda r: r.set_inertia_params(parms=1), "did you mean 'params'?; it is set_inertia_params(params)"),
        (lambda r: r.set_transform_params(parms=1), "did you mean 'params'?; it is set_transform_params(params)"),
        (lambda r: r.set_joint_dynamics(dampng=1), "did you mean 'damping'?; it is set_joint_dynamics(damping=None"),
        (lambda r: r.attach_tool("axle", mas=1), "did you mean 'mass'?; it is attach_tool(joint, *, mass, com=(0.0, "),
    ],
)
def test_wrong_keywords_of_services(plain: RobotHandle, call: Callable[[RobotHandle], object], message: str) -> None:
    with pytest.raises(KeywordError, match=re.escape(message)):
        call(plain)


def test_attributes_that_do_not_exist_cannot_be_set(plain: RobotHandle) -> None:
    message = "has no attribute 'thread'; did you mean 'threads'.*output_convention, output_layout, threads can be set"
    with pytest.raises(UnknownMethodError, match=message) as raised:
        plain.thread = 1  # type: ignore[attr-defined]
    assert isinstance(raised.value, AttributeError)
    with pytest.raises(NotAvailableError, match="set 'threads' instead"):
        plain.threads_per_block = 1  # type: ignore[attr-defined]
    plain.threads = 1
    assert plain.threads == 1


@pytest.mark.parametrize("name", ["nq", "num_joints", "joint_names"])
def test_attributes_that_can_only_be_read_are_named(plain: RobotHandle, name: str) -> None:
    with pytest.raises(ReadOnlyError, match=f"'{name}' can only be read; .*threads can be set") as raised:
        setattr(plain, name, 3)
    assert isinstance(raised.value, AttributeError)


def test_handles_can_be_inspected_and_mocked(handle: RobotHandle) -> None:
    assert not hasattr(handle, "joint_friction_width")
    assert {"nq", "toy"} <= dict(inspect.getmembers(handle)).keys()
    assert mock.create_autospec(handle).toy is not None


@pytest.mark.parametrize("number", [[], None, -1, 1.0, True, 99, "0"])
def test_blocks_that_there_are_not(plain: RobotHandle, number: Any) -> None:
    with pytest.raises(ArgumentError, match=r"coordinate_block: number is .*, expected an integer from 0 to"):
        plain.coordinate_block(number)


@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.copy, copy.deepcopy])
def test_handles_stay_in_their_process(plain: RobotHandle, duplicate: Callable[[RobotHandle], object]) -> None:
    with pytest.raises(GridError, match=rf"robot '{plain.name}': a handle belongs to its process.*get_robot\("):
        duplicate(plain)


def test_meta_is_a_copy(plain: RobotHandle) -> None:
    plain.meta["compiler"]["name"] = "changed"
    assert plain.meta["compiler"] == {"name": "g++"}
    assert plain.meta["algorithm_list"] == ["toy", "pair_of_toys"]
    assert plain.meta["joint_pos_limits"] == plain.joint_pos_limits


def test_capabilities_tell_what_is_built(plain: RobotHandle) -> None:
    capabilities = plain.capabilities()
    assert [name for name, entry in capabilities.items() if entry["built"]] == ["toy", "pair_of_toys"]
    assert capabilities["toy"]["out_shape"] == (NV,)
    assert capabilities["pair_of_toys"]["out_shape"] == ((NV,), (NV, NV))
    assert not capabilities["absent_toy"]["mjx"]


def test_aliases_are_the_same_method(handle: RobotHandle, rng: np.random.Generator) -> None:
    q, qd = rng.normal(size=NQ), rng.normal(size=NV)
    np.testing.assert_array_equal(handle.plaything(q, qd), handle.toy(q, qd))


def test_methods_are_listed(plain: RobotHandle) -> None:
    assert {"toy", "plaything", "pair_of_toys", "absent_toy"} <= set(dir(plain))
    assert isinstance(plain, RobotHandle)


def test_an_algorithm_that_is_not_built_says_what_to_add(handle: RobotHandle) -> None:
    for _ in range(2):
        with pytest.raises(AlgorithmNotBuiltError, match=r"add 'absent_toy' to algorithm_list and .* or use lazy=True"):
            handle.absent_toy(np.zeros(NQ), np.zeros(NV))


def test_functions_are_asked_for_once(model: Model) -> None:
    record = make_record(model)
    asked: list[str] = []
    reference = ReferenceFunctions(record, evaluate)

    class Lazy:
        def get(self, name: str) -> Any:
            asked.append(name)
            return reference.get("toy" if name == "absent_toy" else name)

    handle = RobotHandle(record, Lazy())
    assert asked == []
    zeros = np.zeros(NQ), np.zeros(NV)
    for _ in range(3):
        np.testing.assert_array_equal(handle.absent_toy(*zeros), expected(*zeros))
    assert asked == ["absent_toy"]


def test_unknown_names_are_missing_attributes_with_a_hint(plain: RobotHandle) -> None:
    with pytest.raises(UnknownMethodError, match=r"'flyer' has no method or attribute 'toyy'; did you mean .*'toy'"):
        plain.toyy()
    assert not hasattr(plain, "nothing_like_it")
    assert not hasattr(plain, "__cuda_array_interface__")


@pytest.mark.parametrize("name", sorted(UNAVAILABLE))
def test_what_is_not_there_says_why(plain: RobotHandle, name: str) -> None:
    assert not hasattr(plain, name)
    with pytest.raises(NotImplementedError, match=f"robot 'flyer' has no '{name}': .*[;.] .*") as e:
        getattr(plain, name)
    assert isinstance(e.value, NotAvailableError)
    assert isinstance(e.value, GridError)


class TestContexts:
    def test_settings_are_their_own(self, handle: RobotHandle, rng: np.random.Generator) -> None:
        handle.output_layout = "batch_last"
        other, third = handle.context(), handle.context(workspace_slots=3)
        assert len({handle.ctx_id, other.ctx_id, third.ctx_id}) == 3
        assert handle.ctx_id == 0
        assert other.output_layout == "batch_last"
        other.output_layout = "batch_first"
        q, qd = rng.normal(size=(2, NQ)), rng.normal(size=(2, NV))
        assert other.toy(q, qd).flags.c_contiguous
        assert handle.toy(q, qd).T.flags.c_contiguous

    def test_closing_one_leaves_the_others_open(self, handle: RobotHandle, rng: np.random.Generator) -> None:
        q, qd = rng.normal(size=NQ), rng.normal(size=NV)
        with handle.context() as other:
            expected = other.toy(q, qd)
        with pytest.raises(ClosedHandleError):
            other.toy(q, qd)
        again = handle.context()
        handle.close()
        np.testing.assert_array_equal(again.toy(q, qd), expected)

    @pytest.mark.parametrize("slots", [-1, True, 2.0, None])
    def test_workspace_slots_are_checked(self, handle: RobotHandle, slots: Any) -> None:
        with pytest.raises(OptionError, match=r"workspace_slots is .*, expected an integer of at least 0"):
            handle.context(workspace_slots=slots)


def test_build_options_are_told(model: Model, plain: RobotHandle) -> None:
    assert (plain.runtime_inertia, plain.tool, plain.friction_model, plain.contact_frames) == (
        False,
        None,
        "sign",
        None,
    )
    record = make_record(model, settings=TraceSettings(joint_dynamics=True, friction_model="tanh"))
    assert RobotHandle(record, ReferenceFunctions(record, evaluate)).friction_model == "tanh"


def test_closed_handles_refuse_calls(make_handle: Callable[..., RobotHandle]) -> None:
    zeros = np.zeros(NQ), np.zeros(NV)
    handle = make_handle()
    toy = handle.toy
    toy(*zeros)
    assert not handle.closed
    handle.close()
    handle.close()
    for method in (toy, handle.plaything, handle.pair_of_toys, handle.absent_toy):
        with pytest.raises(ClosedHandleError, match=r"handle is closed; get a new one with get_robot\('flyer'\)"):
            method(*zeros)
    with pytest.raises(ClosedHandleError, match="handle is closed"), handle:
        pass
    assert handle.nq == NQ
    assert "closed" in repr(handle)


def test_leaving_a_with_block_closes(make_handle: Callable[..., RobotHandle]) -> None:
    with make_handle() as handle:
        handle.toy(np.zeros(NQ), np.zeros(NV))
    with pytest.raises(ClosedHandleError):
        handle.toy(np.zeros(NQ), np.zeros(NV))


def test_convention_is_free_on_a_fixed_base() -> None:
    handle = fixed()
    handle.output_convention = "mujoco"
    assert handle.output_convention == "mujoco"
    zeros = np.zeros(handle.nq), np.zeros(handle.nv)
    np.testing.assert_array_equal(handle.toy(*zeros, _convention="mujoco"), handle.toy(*zeros))


def test_convention_on_a_floating_base_is_not_available(handle: RobotHandle) -> None:
    with pytest.raises(NotAvailableError, match="MuJoCo convention on a floating base"):
        handle.output_convention = "mujoco"
    with pytest.raises(NotAvailableError, match="MuJoCo convention on a floating base"):
        handle.toy(np.zeros(NQ), np.zeros(NV), _convention="mujoco")
    assert handle.output_convention == "pinocchio"


def test_unknown_convention_is_refused(plain: RobotHandle) -> None:
    with pytest.raises(OptionError, match="convention is 'drake', expected one of"):
        plain.output_convention = "drake"


def test_threads(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRID_RBD_THREADS", raising=False)
    assert fixed().threads >= 1
    monkeypatch.setenv("GRID_RBD_THREADS", "3")
    handle = fixed()
    assert handle.threads == 3
    handle.threads = 2
    assert handle.threads == 2
    for wrong in (0, 1.5, True, "2"):
        with pytest.raises(OptionError, match="threads is"):
            handle.threads = wrong  # type: ignore[assignment]


@pytest.mark.parametrize("text", ["0", "many", "-1", "1.5", "5000"])
def test_a_wrong_number_of_threads_in_the_environment(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("GRID_RBD_THREADS", text)
    with pytest.raises(OptionError, match=f"GRID_RBD_THREADS is '{text}'; set an integer from 1 to 1024 or unset it"):
        fixed()


def test_one_handle_serves_several_threads(handle: RobotHandle) -> None:
    handle.threads = 2

    def calls(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for batch in rng.integers(1, 300, 20):
            q, qd = rng.normal(size=(batch, NQ)), rng.normal(size=(batch, NV))
            np.testing.assert_allclose(handle.toy(q, qd), expected(q, qd))

    with ThreadPoolExecutor(6) as executor:
        list(executor.map(calls, range(6)))


@pytest.mark.parametrize("name", ["nq", "close", "threads"])
def test_algorithms_may_not_hide_services(model: Model, name: str) -> None:
    record = make_record(model)
    object.__setattr__(record, "declarations", {"toy": TOY, name: declare(name, (TAU,))})
    with pytest.raises(PluginError, match=f"the method name '{name}' is taken; rename the algorithm or its alias"):
        RobotHandle(record, ReferenceFunctions(record, evaluate))


def test_only_two_dtypes_exist(model: Model) -> None:
    with pytest.raises(OptionError, match="dtype is 'float16', expected one of"):
        make_record(model, "float16")
