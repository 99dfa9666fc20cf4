"""The handle of a robot in a framework: the methods of the NumPy handle on the framework's arrays, differentiable."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from math import prod
from typing import Any

from grid_backends.errors import NotAvailableError
from grid_backends.frameworks.batches import check_shapes
from grid_backends.frameworks.operation import Operation, Units
from grid_backends.frameworks.steps import Steps
from grid_backends.frameworks.unavailable import IN_FRAMEWORKS, LAYOUT
from grid_backends.numpy.each import common_length, items
from grid_backends.numpy.handle import RobotHandle
from grid_backends.numpy.methods import MethodStyle
from grid_backends.numpy.record import Call, RobotRecord
from grid_backends.numpy.signature import Argument, Signature
from grid_backends.numpy.stacked import spans
from grid_core.errors import ArgumentError, NoDerivativeError
from grid_core.keywords import closed_keywords
from grid_core.plugins.algorithm import Input

Arrays = tuple[Any, ...]


class FrameworkHandle(RobotHandle):
    """A robot whose algorithms are differentiable methods on arrays of a framework.

    Methods take arrays with any leading batch axes; arrays without them are shared by all samples. Real arrays of
    another dtype are cast to that of the build, NumPy arrays and numbers become arrays of the framework.

    Parameters
    ----------
    record : RobotRecord
        The robot entry.
    units : Units
        Its compiled units, and those of derivatives.
    """

    _methods = MethodStyle({}, "None", "array", guarded=False)
    _unavailable = IN_FRAMEWORKS
    framework: str
    xp: Any
    """The functions of the framework on arrays, named as in NumPy."""

    def __new__(cls, record: RobotRecord, units: Units) -> FrameworkHandle:
        return super().__new__(cls, record, units)  # type: ignore[arg-type,return-value]

    def __init__(self, record: RobotRecord, units: Units) -> None:
        super().__init__(record, units)  # type: ignore[arg-type]
        self._units = units
        self._operations: dict[tuple[str, tuple[str, ...]], Operation] = {}
        self._tables: dict[str, Any] = {}
        self._convert_tables()
        self._parameters.watch(self._convert_tables)
        self._calls = [self._opened(signature) for signature in self._signatures]
        self._defaults = {key: self._of_number(*key) for key in self._with_defaults()}

    # -- what a framework does in its own way -------------------------------------------------------------------------

    @abstractmethod
    def _array(self, value: Any, method: str, argument: str) -> Any:
        """Return a real array or number as an array of the framework, of the build's dtype and on its device."""

    @abstractmethod
    def _numbers(self, flat: list[float], shape: tuple[int, ...]) -> Any:
        """Return numbers as an array of the framework, of the build's dtype and on its device."""

    @abstractmethod
    def _evaluate(self, name: str, given: tuple[str, ...], arrays: Arrays) -> Arrays:
        """Return the outputs of an algorithm from those of its inputs that are given, so that they have derivatives."""

    @abstractmethod
    def _is_tracked(self, value: Any) -> bool:
        """Whether a value is an array whose numbers are not known, or followed for derivatives."""

    @abstractmethod
    def _repeat(self, steps: Steps) -> Arrays:
        """Return the results of all steps."""

    # -- calls --------------------------------------------------------------------------------------------------------

    def _opened(self, signature: Signature) -> Call:
        result = signature.result  # found here, since compilers that trace a call do not look into cached properties

        def call(values: Arrays, *_: Any) -> Any:
            outputs = self._called(signature, values)
            return outputs[0] if result is None else result(*outputs)

        return call

    def _convert_tables(self) -> None:
        """Keep the run-time tables as arrays of the framework, after every change again."""
        for name, values in self._parameters.arrays.items():
            self._tables[name] = self._array(values, "parameters", name)

    def _with_defaults(self) -> Iterator[tuple[tuple[int, ...], float, int | None]]:
        """Yield what tells default values from each other: shape, number and slot."""
        for signature in self._signatures:
            for argument in signature.inputs:
                declared = argument.declared
                if isinstance(declared, Input) and declared.default is not None:
                    yield argument.shape, float(declared.default), declared.scalar_slot

    def _of_number(self, shape: tuple[int, ...], number: float, slot: int | None) -> Any:
        """Return the array that a plain number stands for."""
        slots = range(prod(shape)) if slot is None else (slot,)
        return self._numbers([number if i in slots else 0.0 for i in range(prod(shape))], shape)

    def _packed(self, signature: Signature, outputs: Arrays) -> Any:
        return outputs[0] if signature.result is None else signature.result(*outputs)

    def _called(self, signature: Signature, values: Arrays) -> Arrays:
        given, arrays = self._given(signature, values)
        return self._evaluate(signature.name, given, arrays)

    def _given(self, signature: Signature, values: Arrays) -> tuple[tuple[str, ...], Arrays]:
        """Return which inputs a call has, and their arrays."""
        arguments, arrays = [], []
        for argument, value in zip(signature.inputs, values):
            array = self._argument(signature, argument, value)
            if array is not None:
                arguments.append(argument)
                arrays.append(array)
        check_shapes(signature, arguments, [a.shape for a in arrays])
        return tuple(a.name for a in arguments), tuple(arrays)

    def _argument(self, signature: Signature, argument: Argument, value: Any) -> Any:
        declared = argument.declared
        assert isinstance(declared, Input)
        if value is None and declared.default is None:
            if not declared.optional:
                raise ArgumentError(f"{signature.name}: argument {argument.name!r} is required and was not given")
            return None
        is_number = isinstance(value, (int, float))
        if value is None or (is_number and value == declared.default):
            return self._defaults[argument.shape, float(declared.default or 0.0), declared.scalar_slot]
        if is_number and (argument.size == 1 or declared.scalar_slot is not None):
            return self._of_number(argument.shape, float(value), declared.scalar_slot)
        return self._array(value, signature.name, argument.name)

    def _operation(self, name: str, given: tuple[str, ...]) -> Operation:
        known = self._operations.get((name, given))
        if known is None:
            signature = self._record.signatures[name]
            if not self._is_built(signature):
                raise self._not_built(signature)
            known = Operation(self._record, self._units, self._threads, (signature.algorithm,), given)
            self._operations[name, given] = known
        return known

    def _read(self, index: int, values: Arrays) -> Arrays:
        self._refuse_tracked(index, values)
        return super()._read(index, values)

    def _refuse_tracked(self, index: int, values: Arrays) -> None:
        """Raise if a value that is read before the call is, or lists, an array that is traced or differentiated."""
        for declared, value in zip(self._signatures[index].readable, values):
            if self._has_tracked(value):
                raise NoDerivativeError(
                    f"{self._signatures[index].name}: argument {declared.name!r} is read before the call, so that "
                    "it can be neither traced nor differentiated; pass names, numbers, lists of them, or a NumPy array "
                    "that nothing traces"
                )

    def _has_tracked(self, value: Any) -> bool:
        if isinstance(value, (list, tuple)):
            return any(self._has_tracked(item) for item in value)
        return self._is_tracked(value)

    def _unstacked(self, index: int, name: str, value: Any) -> dict[str, Any]:
        signature, callee = self._stack_of(index)
        (argument,) = (a for a in signature.inputs if a.name == name)
        array = self._array(value, signature.name, name)
        check_shapes(signature, [argument], [array.shape])
        return {part: array[..., span] for part, span in spans(signature, callee, name)}

    def _for_each(self, index: int, values: Arrays, *_: Any) -> Any:
        signature = self._signatures[index]
        lists = {n: values[n] for n, i in enumerate(signature.algorithm.inputs) if i.each}
        count = common_length(signature, lists)
        if count == 0:
            raise ArgumentError(f"{signature.name}: the list of items is empty; give at least one")
        calls = [self._calls[index](item, None) for item in items(values, lists, count)]
        several = [call if signature.result is not None else (call,) for call in calls]
        axes = [-len(o.shape) - 1 for o in signature.outputs]
        return self._packed(signature, tuple(self.xp.stack(a, axis) for a, axis in zip(zip(*several), axes)))

    def _scan(self, index: int, choice: Any, values: Arrays, *_: Any) -> Any:
        signature = self._signatures[index]
        arguments = zip(signature.inputs, values)
        given = {i.name: self._argument(signature, i, value) for i, value in arguments}
        steps = Steps(signature, self._scan_callees(index, choice), given, self._called, self.xp)
        return self._packed(signature, self._repeat(steps))

    # -- the robot ----------------------------------------------------------------------------------------------------

    @property
    def backend(self) -> str:
        """The framework whose arrays methods take."""
        return self.framework

    @property
    def threads(self) -> int:
        """Most threads that one call may use; what was compiled keeps the number that it was traced with."""
        return self._threads

    @threads.setter
    def threads(self, value: int) -> None:
        RobotHandle.threads.fset(self, value)  # type: ignore[attr-defined]
        self._operations.clear()

    @property
    def output_layout(self) -> str:
        """``"batch_first"``: how a framework lays results out in memory is its own affair."""
        return self._layout

    @output_layout.setter
    def output_layout(self, value: str) -> None:
        if value != self._layout:
            raise NotAvailableError(f"robot {self.name!r}: output_layout={value!r}: {LAYOUT}")

    def neutral(self) -> Any:
        """Return the neutral configuration, shape (nq,): zeros and identity quaternions."""
        return self._array(super().neutral(), "neutral", "q")

    @closed_keywords
    def random(self, seed: int, n: int) -> Any:
        """Return ``n`` reproducible configurations inside the joint limits, shape (n, nq)."""
        return self._array(super().random(seed, n), "random", "q")

    def __repr__(self) -> str:
        return super().__repr__().replace("<RobotHandle", f"<{type(self).__name__}")
