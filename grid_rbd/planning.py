"""Dry runs: what a registration would build, why, and what that is expected to cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grid_core.build import Plan, RobotRequest, UnitPlan, make_plan
from grid_core.build.changes import changed_values
from grid_core.build.costs import Cost, RecordedCosts, total
from grid_core.build.entry import not_registered, recorded_request, stale
from grid_core.build.models import velocity_width
from grid_core.build.options import flag
from grid_core.build.record import faults, usable_record
from grid_core.errors import OptionError
from grid_rbd.basics import checked_name, new_name, open_store
from grid_rbd.growing import grown
from grid_rbd.keywords import checked_keywords
from grid_rbd.wishes import Wish, description_of, make_wish, target_facts
from grid_store import Store


@checked_keywords
def build_plan(name: str, urdf_path: str | Path | None = None, **opts: Any) -> dict[str, Any]:
    """Resolve a registration without building it: nothing is generated, compiled or loaded.

    Parameters
    ----------
    name : str
    urdf_path : path, optional
        Without a description, what the registered robot of this name would have to build again.
    **opts
        As for :func:`register_robot`, ``urdf_string`` and ``cache_dir`` included; ``force_rebuild`` has no effect.

    Raises
    ------
    URDFParseError
        The description is not valid.
    RobotNotRegisteredError
        There is no description, and no robot of this name.

    Returns
    -------
    dict
        ``name, cache_dir, cuda_arch, cuda_archs, cpu_level, code_options, build_identity, input_key, content_key,
        cached, stale_reasons, store_dir, would, changes``, ``forbidden`` (algorithms that no tier has and the user
        forbids to compile), ``units``, ``expected``, and ``wish``, from which ``grid-rbd build --from-plan`` builds.

        ``units`` has, per algorithm, ``status`` (``"hit"``, ``"miss"``, or ``"stale"`` for one that was built from
        something else), ``reason``, ``changed`` (the components of its key that differ), its keys, ``tier``, the URL of
        the user's tier that it would be copied from, and ``expected``: ``seconds`` and ``memory`` (bytes) that the most
        similar recorded build took, and the ``robot`` that was; ``None`` if it would not be compiled, and if there is
        no such build.

        Of a robot for ``device="reference"`` nothing is compiled: it has no ``units``.

        ``expected`` sums that up: ``compile_seconds``, ``seconds`` with ``workers`` compilers at once, ``memory``, and
        ``unknown``, the algorithms that have no recorded build.
    """
    options = dict(opts)
    store = open_store(options.pop("cache_dir", None))
    text = options.pop("urdf_string", None)
    flag(options.pop("force_rebuild", False), "force_rebuild")
    if urdf_path is None and text is None:
        return _registered_plan(checked_name(name), options, store)
    wish = make_wish(description_of(urdf_path, text), options)
    return plan_report(new_name(name), wish, store)


def plan_report(name: str, wish: Wish, store: Store) -> dict[str, Any]:
    """Return the report of :func:`build_plan` for a checked wish."""
    return _report(name, grown(name, wish, store), store)


def _registered_plan(name: str, options: Mapping[str, Any], store: Store) -> dict[str, Any]:
    """Return the report for what a registered robot was made from."""
    record = store.resolve(name)
    if record is None:
        raise not_registered(name, store)
    if reasons := faults(record):
        raise stale(name, reasons)
    if options:
        raise OptionError(
            f"{', '.join(options)}: robot {name!r} is planned as it was registered; give its description to change that"
        )
    facts = record["facts"]
    wish = Wish(recorded_request(record, store), facts["device"], facts["max_batch"], facts["lazy"])
    return _report(name, wish, store)


def _report(name: str, wish: Wish, store: Store) -> dict[str, Any]:
    return _report_of_units(name, wish, store) if wish.is_compiled else _report_of_model(name, wish, store)


def _report_of_model(name: str, wish: Wish, store: Store) -> dict[str, Any]:
    """Return the report for a robot that is interpreted: nothing is compiled, and its model is all that is kept."""
    velocity_width(wish.request, store)
    return {
        **_wanted(name, wish, store),
        "build_identity": {"compiler": None, "level": None},
        "input_key": wish.request.identity().digest,
        "content_key": wish.request.model_key().digest,
        "cached": True,
        "stale_reasons": None,
        "would": "load",
        "forbidden": [],
        "changes": {},
        "units": [],
        "expected": {**asdict(total([])), "unknown": []},
    }


def _wanted(name: str, wish: Wish, store: Store) -> dict[str, Any]:
    """Return what every report says of what was asked for, and where."""
    return {
        "name": name,
        "cache_dir": str(store.root),
        **target_facts(wish.request),
        "code_options": wish.request.options.to_json(),
        "store_dir": str(store.root),
        "wish": wish.to_json(),
    }


def _report_of_units(name: str, wish: Wish, store: Store) -> dict[str, Any]:
    request = wish.request
    nv, record = velocity_width(request, store), usable_record(name, store)
    plan = make_plan(request, store, record["inputs"] if record else None)
    offers = store.offers([unit.input_key for unit in plan.missing])
    forbidden = [unit.algorithm for unit in _compiled(plan, offers)] if store.only_fetches else []
    reasons = [f"{unit.algorithm}: {unit.reason}" for unit in plan.missing]
    values, costs = plan.to_json(), _expected(_compiled(plan, offers), plan.request, nv, store)
    return {
        **_wanted(name, wish, store),
        "build_identity": {"compiler": values["compiler"], "level": values["level"]},
        "input_key": plan.input_key,
        "content_key": plan.content_key,
        "cached": not plan.missing,
        "stale_reasons": reasons if record and reasons else None,
        "would": _would(plan, offers, forbidden),
        "forbidden": forbidden,
        "changes": changed_values(record, plan, store) if record else {},
        "units": [
            {**unit, "tier": offers.get(unit["input_key"]), "expected": _plain(costs.get(unit["algorithm"]))}
            for unit in values["units"]
        ],
        "expected": {
            **asdict(total(cost for cost in costs.values() if cost)),
            "unknown": [algorithm for algorithm, cost in costs.items() if cost is None],
        },
    }


def _compiled(plan: Plan, offers: Mapping[str, str]) -> list[UnitPlan]:
    """Return the units that neither the store nor a tier has."""
    return [unit for unit in plan.missing if unit.input_key.digest not in offers]


def _would(plan: Plan, offers: Mapping[str, str], forbidden: Sequence[str]) -> str:
    """Return what a build would do, and why."""
    if forbidden:
        return f"fail (no tier has {', '.join(forbidden)}; 'grid-rbd tiers fallback on' allows to compile that)"
    if compiled := _compiled(plan, offers):
        return f"generate+compile ({'; '.join(f'{unit.algorithm}: {unit.reason}' for unit in compiled)})"
    return f"copy from {', '.join(dict.fromkeys(offers.values()))}" if offers else "load"


def _expected(units: Sequence[UnitPlan], request: RobotRequest, nv: int, store: Store) -> dict[str, Cost | None]:
    """Return what compiling each unit is expected to cost."""
    if not units:
        return {}
    recorded = RecordedCosts(store)
    return {unit.algorithm: recorded.expected(unit.algorithm, request, nv) for unit in units}


def _plain(cost: Cost | None) -> dict[str, Any] | None:
    return asdict(cost) if cost else None
