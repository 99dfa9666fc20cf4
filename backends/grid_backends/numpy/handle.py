"""The NumPy handle of a robot."""

from __future__ import annotations

import copy
import operator
import sys
from types import TracebackType
from typing import Any, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from grid_backends.errors import ClosedHandleError, NotAvailableError
from grid_backends.numpy.arguments import as_real
from grid_backends.numpy.attributes import GuardedAttributes
from grid_backends.numpy.contexts import checked_slots, next_context
from grid_backends.numpy.each import call_each
from grid_backends.numpy.general import call_general
from grid_backends.numpy.layouts import BATCH_FIRST, BATCH_LAST, checked_layout
from grid_backends.numpy.memory import check_memory
from grid_backends.numpy.methods import CPU_METHODS, add_methods
from grid_backends.numpy.parameters import ParameterMethods, ParameterTables
from grid_backends.numpy.reading import Readings
from grid_backends.numpy.record import Call, FunctionProvider, RobotRecord
from grid_backends.numpy.scan import Callee, call_scan
from grid_backends.numpy.signature import Signature
from grid_backends.numpy.stacked import unstack
from grid_backends.numpy.threads import checked_threads, default_threads
from grid_backends.numpy.unavailable import UNAVAILABLE
from grid_core.errors import AlgorithmNotBuiltError, ArgumentError, GridError, OptionError, OutOfMemoryError, nearest
from grid_core.keywords import closed_keywords
from grid_core.model import Frame, Joint, Model

CONVENTIONS = ("pinocchio", "mujoco")

Limits = list[list[float | None] | None]


class RobotHandle(GuardedAttributes, ParameterMethods):
    """A robot whose algorithms are methods on NumPy arrays.

    Every method takes arrays with any leading batch axes; arrays without them are shared by all samples. Inputs of any
    real dtype are cast to the dtype of the build, which results have too. Handles may be used from several threads.

    Parameters
    ----------
    record : RobotRecord
        The robot entry.
    functions : FunctionProvider
        Gives the function of an algorithm at its first call.
    """

    _methods = CPU_METHODS
    _unavailable = UNAVAILABLE

    def __new__(cls, record: RobotRecord, functions: FunctionProvider) -> RobotHandle:  # noqa: ARG004
        methods = add_methods(cls, tuple(record.signatures.values()), cls._methods)
        return cast("RobotHandle", object.__new__(methods))

    def __init__(self, record: RobotRecord, functions: FunctionProvider) -> None:
        self._record = record
        self._functions = functions
        self._threads = default_threads()
        self._convention = "pinocchio"
        self._layout = BATCH_FIRST
        self._ctx_id = 0
        self._workspace_slots = 0
        self._closed = False
        self._signatures: tuple[Signature, ...] = tuple(record.signatures.values())
        self._places = {signature.name: i for i, signature in enumerate(self._signatures)}
        self._calls: list[Call] = [self._first_call(i) for i in range(len(self._signatures))]
        self._parameters = ParameterTables(record)
        self._tables = self._parameters.arrays
        self._readings = Readings(record, self._parameters)

    # -- calls --------------------------------------------------------------------------------------------------------

    def _first_call(self, index: int) -> Call:
        """Return a call that looks the function up, keeps it for later calls, and calls it."""

        def call(arguments: tuple[Any, ...], out: Any, *where: Any) -> Any:
            function = self._open(self._signatures[index])
            if self._calls[index] is call:
                self._calls[index] = function
            return function(arguments, out, *where)

        return call

    def _open(self, signature: Signature) -> Call:
        function = self._functions.get(signature.name)
        if function is None:
            raise self._not_built(signature)
        self._configure(function)
        return function

    def _configure(self, function: Any) -> None:
        """Apply the settings of this handle to a function of its own."""
        function.set_batch_last(self._layout == BATCH_LAST)

    def _configure_all(self) -> None:
        for call in self._calls:
            if hasattr(call, "set_batch_last"):  # those that have not been called are configured when they are opened
                self._configure(call)

    def _general(self, index: int, arguments: tuple[Any, ...], out: Any, *where: Any) -> Any:
        return call_general(self._signatures[index], self._calls[index], arguments, out, *where)

    def _check_memory(self, index: int, arguments: tuple[Any, ...], error: Exception) -> None:
        check_memory(self._signatures[index], arguments, error)

    def _read(self, index: int, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return what the readers of a method make of the caller's values."""
        return self._readings.read(self._signatures[index], values)

    def _chosen(self, index: int, value: Any) -> Any:
        """Return the method of the algorithm that a value stands for."""
        return getattr(self, self._callee(self._signatures[index], value))

    def _callee(self, signature: Signature, value: Any) -> str:
        """Return the algorithm that a value stands for; that of the signature itself if it leaves no choice."""
        choice = signature.algorithm.choice
        if choice is None:
            return signature.name
        name = choice.algorithms.get(value) if isinstance(value, str) else None
        if name is None:
            raise OptionError(
                f"{signature.name}: {choice.name} is {value!r}, expected one of "
                f"{', '.join(choice.algorithms)}{nearest(str(value), choice.algorithms)}"
            )
        return name

    def _unstacked(self, index: int, name: str, value: Any) -> dict[str, Any]:
        """Return the parts of an argument by the names that they have in the algorithms of a choice."""
        signature, callee = self._stack_of(index)
        return unstack(signature, callee, name, as_real(value, f"{signature.name}: argument {name!r}", signature.dtype))

    def _stack_of(self, index: int) -> tuple[Signature, Signature]:
        """Return the signatures of a choice and of what it calls if it is not told otherwise."""
        signature = self._signatures[index]
        assert signature.algorithm.choice is not None
        choice = signature.algorithm.choice
        return signature, self._record.signatures[choice.algorithms[choice.default]]

    def _scan(self, index: int, choice: Any, arguments: tuple[Any, ...], out: Any, *where: Any) -> Any:
        """Call the step of a method, and what is beside it, for all steps."""
        return call_scan(self._signatures[index], self._callees(index, choice), arguments, out, *where)

    def _callees(self, index: int, choice: Any) -> list[Callee]:
        return [Callee(s, self._calls[self._places[s.name]]) for s in self._scan_callees(index, choice)]

    def _scan_callees(self, index: int, choice: Any) -> list[Signature]:
        """Return the signatures of the step of a method, and of what is beside it."""
        scan = self._signatures[index].algorithm.scan
        assert scan is not None
        signatures = self._record.signatures
        return [signatures[self._callee(signatures[name], choice)] for name in (scan.step, *scan.beside)]

    def _for_each(self, index: int, arguments: tuple[Any, ...], out: Any, *where: Any) -> Any:
        return call_each(self._signatures[index], self._calls[index], arguments, out, *where, layout=self._layout)

    def _not_built(self, signature: Signature) -> AlgorithmNotBuiltError:
        return AlgorithmNotBuiltError(
            f"robot {self.name!r}: algorithm {signature.name!r} (family {signature.algorithm.family!r}) is not built "
            f"in this entry; add {signature.name!r} to algorithm_list and register the robot again, or use lazy=True"
        )

    def _check_convention(self, convention: Any) -> None:
        if convention not in CONVENTIONS:
            raise OptionError(f"robot {self.name!r}: convention is {convention!r}, expected one of {CONVENTIONS}")
        if convention == "mujoco" and self.floating_base:
            raise NotAvailableError(
                f"robot {self.name!r}: the MuJoCo convention on a floating base is not available in this version; use "
                "'pinocchio' and convert inputs and outputs (on a fixed base both are the same)"
            )

    # -- closing ------------------------------------------------------------------------------------------------------

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._closed

    def close(self) -> None:
        """Release the compiled units. Calls in progress finish; later ones raise ClosedHandleError. Idempotent."""
        self._closed = True
        self._calls[:] = [self._refuse] * len(self._calls)

    def _refuse(self, *_: Any) -> NoReturn:
        raise ClosedHandleError(
            f"robot {self.name!r}: this handle is closed; get a new one with get_robot({self.name!r})"
        )

    def __enter__(self) -> RobotHandle:
        if self._closed:
            self._refuse()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise GridError(
            f"robot {self.name!r}: a handle belongs to its process and cannot be pickled or copied; threads may share "
            f"it, another process calls grid_rbd.get_robot({self.name!r}, cache_dir)"
        )

    def __repr__(self) -> str:
        state = " closed" if self._closed else ""
        return f"<RobotHandle {self.name!r} nq={self.nq} nv={self.nv} {self.dtype} on {self.device}{state}>"

    # -- settings -----------------------------------------------------------------------------------------------------

    @property
    def threads(self) -> int:
        """Most threads that one call may use; the default is GRID_RBD_THREADS or every CPU of the process."""
        return self._threads

    @threads.setter
    def threads(self, value: int) -> None:
        self._threads = checked_threads(value)

    @property
    def output_convention(self) -> str:
        """``"pinocchio"`` or ``"mujoco"``; the same on a fixed base."""
        return self._convention

    @output_convention.setter
    def output_convention(self, value: str) -> None:
        self._check_convention(value)
        self._convention = value

    @property
    def output_layout(self) -> str:
        """How new results lie in memory: ``"batch_first"`` (default) or ``"batch_last"``.

        Shapes are the same. With the batch last, a result is a transposed view of memory in which all values of one
        entry are adjacent: ``result.T`` of a (B, nv) result is contiguous. Arguments and ``out=`` arrays are taken
        without copies in either order, whatever the setting.
        """
        return self._layout

    @output_layout.setter
    def output_layout(self, value: str) -> None:
        self._layout = checked_layout(value)
        self._configure_all()

    # -- the entry ----------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Name the robot is registered under."""
        return self._record.name

    @property
    def dtype(self) -> str:
        """``"float32"`` or ``"float64"``: what methods compute in and return."""
        return self._record.dtype

    @property
    def device(self) -> str:
        """Where the methods run."""
        return self._record.device

    @property
    def max_batch(self) -> int:
        """Batch size the robot was registered for; larger batches work too."""
        return self._record.max_batch

    @property
    def ctx_id(self) -> int:
        """Number of the context that this handle is: 0, unless it was made by :meth:`context`."""
        return self._ctx_id

    @closed_keywords
    def context(self, *, workspace_slots: int = 0) -> RobotHandle:
        """Return another handle on the same build, with run-time parameters and launch settings of its own.

        It begins with the parameters of the build and the thread, convention and layout settings of this handle;
        closing either leaves the other open. Calls from several threads or on several streams need no contexts: they
        share nothing that a call could change.

        Parameters
        ----------
        workspace_slots : int
            Most workspaces in device memory that a launch on a GPU may have, one per block; 0: as many as blocks run at
            once, within a sixteenth of the memory. Fewer take less memory and more time. On a CPU there are none.
        """
        other: RobotHandle = type(self).__bases__[0](self._record, self._functions)
        other._ctx_id = next_context()
        other._workspace_slots = checked_slots(workspace_slots)
        other._threads, other._convention, other._layout = self._threads, self._convention, self._layout
        return other

    @property
    def meta(self) -> dict[str, Any]:
        """A copy of what is known about the entry: sizes, joint names and limits, build facts."""
        facts = {
            "name": self.name,
            "dtype": self.dtype,
            "device": self.device,
            "max_batch": self.max_batch,
            "nq": self.nq,
            "nv": self.nv,
            "nb": self.nb,
            "num_ees": self.num_ees,
            "floating_base": self.floating_base,
            "joint_names": self.joint_names,
            "joint_pos_limits": self.joint_pos_limits,
            "joint_vel_limits": self.joint_vel_limits,
            "joint_effort_limits": self.joint_effort_limits,
            "algorithm_list": list(self._record.algorithms),
        }
        return copy.deepcopy({**facts, **self._record.facts})

    def capabilities(self) -> dict[str, dict[str, Any]]:
        """What the entry can do: for each declared algorithm whether it is built, and its per-sample output shapes."""
        return {s.name: self._capability(s) for s in self._signatures}

    def _capability(self, signature: Signature) -> dict[str, Any]:
        shapes = tuple(o.shape for o in signature.outputs)
        return {
            "built": self._is_built(signature),
            "family": signature.algorithm.family,
            "out_shape": shapes[0] if len(shapes) == 1 else shapes,
            "mjx": False,
            "tier": None,
            "threads": None,
            "max_threads": None,
            "batch_threshold": None,
            "threads_small": None,
        }

    def _is_built(self, signature: Signature) -> bool:
        if signature.algorithm.emit is not None:
            return signature.name in self._record.algorithms
        return all(self._is_built(self._record.signatures[name]) for name in signature.algorithm.requires)

    # -- the robot ----------------------------------------------------------------------------------------------------

    @property
    def model(self) -> Model:
        """The robot: joints, bodies and frames."""
        return self._record.model

    @property
    def nq(self) -> int:
        """Width of a configuration; a floating base has 7 (position, quaternion xyzw) before its joints."""
        return self.model.nq

    @property
    def nv(self) -> int:
        """Width of velocities, accelerations and forces, and of every tangent axis."""
        return self.model.nv

    @property
    def nb(self) -> int:
        """Number of moving bodies; ``f_ext`` is ``6*nb`` wide."""
        return self.model.nb

    @property
    def dims(self) -> dict[str, int]:
        """Dimensions by the names that shapes of arguments and results use."""
        return dict(self._record.dims)

    num_joints = nq
    num_vel = nv
    num_bodies = nb

    @property
    def num_ees(self) -> int:
        """Number of end effectors: the named ones, else the leaf joints."""
        return self._record.dims["nee"]

    @property
    def floating_base(self) -> bool:
        """Whether the base moves freely."""
        return self.model.floating_base

    @property
    def configuration_layout(self) -> tuple[tuple[str, int, int, int, int], ...]:
        """Blocks ``(kind, q0, v0, nq, nv)`` that map configuration slots to velocity slots."""
        return self.model.configuration_layout

    @property
    def coordinate_block_count(self) -> int:
        """Number of coordinate blocks, one per independent joint; mimic joints have none."""
        return len(self.model.coordinate_blocks)

    @closed_keywords
    def coordinate_block(self, number: int) -> tuple[str, int, int, int, int]:
        """Return one block ``(kind, q_start, v_start, nq, nv)`` of the coordinates.

        The kind is ``"scalar"``, ``"spherical"`` or ``"floating"``. Maps between tangents, as those of
        ``configuration_difference_jacobians``, are zero outside of these blocks.

        Raises
        ------
        ArgumentError
            There is no block of that number.
        """
        blocks = self.model.coordinate_blocks
        index = _index(number)
        if index is None or index >= len(blocks):
            raise ArgumentError(
                f"coordinate_block: number is {number!r:.80}, expected an integer from 0 to {len(blocks) - 1}"
            )
        return blocks[index]

    @property
    def joint_names(self) -> list[str]:
        """Names of the movable joints; the index is the joint id."""
        return list(self.model.joint_names)

    @property
    def joint_pos_limits(self) -> Limits:
        """``[lower, upper]`` of each joint, rad or m; ``None`` for a joint or side without limit. Not enforced."""
        return [_position_limits(joint) for joint in self.model.joints]

    @property
    def joint_vel_limits(self) -> list[float | None]:
        """Velocity limit of each joint, rad/s or m/s; ``None`` where there is none."""
        return [_finite(joint.velocity_limit) for joint in self.model.joints]

    @property
    def joint_effort_limits(self) -> list[float | None]:
        """Effort limit of each joint, N m or N; ``None`` where there is none."""
        return [_finite(joint.effort_limit) for joint in self.model.joints]

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Named frames: every joint and every link of the description."""
        return self.model.frames

    def neutral(self) -> NDArray[Any]:
        """Return the neutral configuration, shape (nq,): zeros and identity quaternions."""
        return self.model.neutral().astype(self.dtype)

    @closed_keywords
    def random(self, seed: int, n: int) -> NDArray[Any]:
        """Return ``n`` reproducible configurations inside the joint limits, shape (n, nq).

        Raises
        ------
        ArgumentError
            Seed or number is no integer of at least 0.
        OutOfMemoryError
            There is not enough memory; also a MemoryError.
        """
        count, size = _count(n, "n"), 8 * self.nq
        try:
            if count * size > sys.maxsize:
                raise MemoryError
            return self.model.random(_count(seed, "seed"), count).astype(self.dtype)
        except MemoryError:
            raise OutOfMemoryError(
                f"random: n is {n}, and that many configurations of {self.nq} numbers take {count * size} bytes, more "
                "than there are; ask for fewer at a time"
            ) from None


def _count(value: Any, argument: str) -> int:
    number = _index(value)
    if number is None:
        raise ArgumentError(f"random: {argument} is {value!r:.80}, expected an integer of at least 0")
    return number


def _index(value: Any) -> int | None:
    """Return an integer of at least 0, ``None`` for what is none."""
    try:
        number = operator.index(value)
    except TypeError:
        return None
    return None if number < 0 or isinstance(value, bool) else number


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _position_limits(joint: Joint) -> list[float | None] | None:
    sides = [_finite(joint.lower), _finite(joint.upper)]
    return None if sides == [None, None] else sides
