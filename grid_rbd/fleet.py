"""Building many robots with whatever runs jobs: threads, processes, or machines of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, cast

from grid_core.build import BuiltUnit, Event, Plan, UnitJob, distribute, job_of, make_plan
from grid_core.build.entry import make_record
from grid_core.errors import OptionError
from grid_rbd.backends import check_backend
from grid_rbd.basics import new_name, open_store
from grid_rbd.growing import grown
from grid_rbd.keywords import check_registering, checked_keywords
from grid_rbd.progress import shown_progress
from grid_rbd.warming import build_and_bind, checked_model, facts_of, inputs_before
from grid_rbd.wishes import Wish, description_of, make_wish
from grid_store import Store, StoreError


@checked_keywords
def build_many(
    requests: Iterable[Mapping[str, Any]],
    *,
    executor: Executor | None = None,
    cache_dir: str | Path | None = None,
) -> list[dict[str, Any]]:
    """Build many robots into the store, each unit once, and register them.

    Parameters
    ----------
    requests : iterable of dict
        The arguments of :func:`register_robot`, ``name`` and ``urdf_path`` or ``urdf_string`` included; ``cache_dir``
        and ``force_rebuild`` left out.
    executor : concurrent.futures.Executor, optional
        What builds the units: threads, processes, or a cluster, such as Dask's ``Client.get_executor()``. Jobs are
        plain data with the description in it; what comes back are small records. Workers need the same version of
        grid-rbd, the same plugins and compiler, which they check, and the store below the same path. Default: compilers
        on this machine, as many as its processors and memory allow.
    cache_dir : path, optional

    Returns
    -------
    list of dict
        ``name`` and the stored record of each.

    Raises
    ------
    OptionError
        A request is wrong; nothing was built.
    ToolchainMismatchError
        A worker has another compiler, version or plugin.
    CompileError
        A compiler failed; units that were finished stay in the store.
    """
    store, wishes, runs = open_store(cache_dir), _wishes(requests), _executor(executor)
    build_wishes(wishes, store, runs)
    return [{"name": name, **(store.resolve(name) or {})} for name in wishes]


@checked_keywords
def precompile(
    name: str,
    urdf_path: str | Path | None = None,
    *,
    urdf_string: str | None = None,
    tiers: Iterable[dict[str, Any]] | None = None,
    floating_base: bool = False,
    ee_joint_names: Sequence[str] | None = None,
    max_batch_size: int = 256,
    backends: Iterable[str] = ("numpy",),
    cache_dir: str | Path | None = None,
    cuda_arch: int | None = None,
    executor: Executor | None = None,
) -> list[dict[str, Any]]:
    """Build one or several variants of a robot ahead of time.

    Parameters
    ----------
    tiers : iterable of dict, optional
        Overrides of :func:`register_robot` options, one build each; several are named ``name__tier0``,
        ``name__tier1``, ...
    executor : concurrent.futures.Executor, optional
        What builds the units, see :func:`build_many`. Default: compilers on this machine.

    Returns
    -------
    list of dict
        ``{"name", "backend", ...}`` and the stored record, for each tier and backend.
    """
    shared = {
        "floating_base": floating_base,
        "ee_joint_names": ee_joint_names,
        "max_batch_size": max_batch_size,
        "cuda_arch": cuda_arch,
    }
    name, store = new_name(name), open_store(cache_dir)
    source, chosen, runs = description_of(urdf_path, urdf_string), _backends(backends), _executor(executor)
    wishes = [make_wish(source, {**shared, **tier}) for tier in _tiers(tiers)]
    names = [f"{name}__tier{number}" for number in range(len(wishes))] if len(wishes) > 1 else [name] * len(wishes)
    build_wishes(dict(zip(names, wishes)), store, runs)
    return [{"name": n, "backend": backend, **(store.resolve(n) or {})} for n in names for backend in chosen]


def build_wishes(wishes: Mapping[str, Wish], store: Store, executor: Executor | None) -> None:
    """Build what wishes lack and bind their names."""
    elsewhere = {name: wish for name, wish in wishes.items() if executor is not None and wish.is_compiled}
    for name, wish in wishes.items():
        if name not in elsewhere:
            build_and_bind(name, wish, store)
    if executor is not None and elsewhere:
        _build_and_bind_elsewhere(elsewhere, store, executor)


def _build_and_bind_elsewhere(wishes: Mapping[str, Wish], store: Store, executor: Executor) -> None:
    store.check_writable()
    whole = {name: grown(name, wish, store) for name, wish in wishes.items()}
    models = {name: checked_model(wish, store)[0] for name, wish in whole.items()}
    _build_elsewhere(_jobs(_plans(whole, store).values(), store), executor)
    for name, plan in _plans(whole, store).items():
        if plan.missing:
            raise StoreError(
                f"{plan.missing[0].algorithm} of {name!r} was built and is not in {store.root}: the workers must see "
                "the same store below that path, so put it on a file system that they share; and a collection may not "
                "take what is younger than the build, so give gc a minimum age"
            )
        units = {unit.algorithm: unit.entry for unit in plan.units if unit.entry}
        store.bind(name, make_record(plan.request, models[name], units, plan, facts_of(whole[name])))


def _plans(wishes: Mapping[str, Wish], store: Store) -> dict[str, Plan]:
    return {name: make_plan(wish.request, store, inputs_before(name, store)) for name, wish in wishes.items()}


def _jobs(plans: Iterable[Plan], store: Store) -> list[UnitJob]:
    """Return a job for every unit that is missing, equal ones once, those first that contain the most others."""
    missing = [(plan, unit) for plan in plans for unit in plan.missing]
    jobs = {unit.input_key.digest: job_of(plan, unit, store) for plan, unit in missing}
    return sorted(jobs.values(), key=lambda job: -len(job.request.catalogue.closure([job.algorithm])))


def _build_elsewhere(jobs: Sequence[UnitJob], executor: Executor) -> None:
    with shown_progress(len(jobs), "robots") as progress:

        def report(unit: BuiltUnit) -> None:
            if progress:
                progress(Event("done", unit.algorithm, 0, len(jobs), unit.seconds, unit.compiled))

        distribute(jobs, executor, report)


def _wishes(requests: Any) -> dict[str, Wish]:
    wishes: dict[str, Wish] = {}
    for request in requests if isinstance(requests, Iterable) and not isinstance(requests, Mapping) else [requests]:
        if not isinstance(request, Mapping):
            raise OptionError(f"requests has the entry {request!r:.80}, expected dicts of register_robot's arguments")
        check_registering(request)
        options = dict(request)
        name = new_name(options.pop("name", None))
        if name in wishes:
            raise OptionError(f"requests has the name {name!r} twice; a name means one robot")
        for wrong in ("cache_dir", "force_rebuild"):
            if wrong in options:
                raise OptionError(f"the request of {name!r} has {wrong}, which is one for all robots; leave it out")
        source = description_of(options.pop("urdf_path", None), options.pop("urdf_string", None))
        wishes[name] = make_wish(source, options)
    return wishes


def _executor(executor: Any) -> Executor | None:
    """Return what runs jobs if it can."""
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise OptionError(
            f"executor is {executor!r:.80}, expected one of concurrent.futures, such as ThreadPoolExecutor(4), or None"
        )
    return cast(Executor | None, executor)


def _backends(backends: Any) -> list[str]:
    """Return the backends if all of them are part of this version."""
    if isinstance(backends, str) or not isinstance(backends, Iterable):
        raise OptionError(f"backends is {backends!r:.80}, expected a sequence of names, such as ['numpy']")
    names = list(backends)
    for name in names:
        check_backend(name)
    return names


def _tiers(tiers: Any) -> list[dict[str, Any]]:
    """Return the options of each tier."""
    if tiers is None:
        return [{}]
    wanted = list(tiers) if isinstance(tiers, Iterable) else [tiers]
    for tier in wanted:
        if not isinstance(tier, Mapping):
            raise OptionError(
                f"tiers has the entry {tier!r:.80}, expected dicts of options, such as [{{'dtype': 'float64'}}]"
            )
    return [dict(tier) for tier in wanted]
