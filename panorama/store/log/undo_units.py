"""Which of many units undid others, and which may still have an effect, with a few statements for all of them."""

import json
from collections.abc import Collection

from sqlalchemy import func, select, text

from panorama.store.backend import Session
from panorama.store.log.changes import MAY_BE_EFFECTIVE
from panorama.store.tables import changes

_CHUNK = 500
_CANDIDATES = text(
    "SELECT given.value FROM json_each(:units) AS given "
    f"WHERE EXISTS (SELECT 1 FROM changes AS c WHERE c.unit = given.value AND {MAY_BE_EFFECTIVE})"
)


def list_candidate_units(session: Session, units: Collection[str]) -> set[str]:
    """Return those of some units of which a change may have an effect; nothing is left of the others."""
    return set(session.connection.execute(_CANDIDATES, {"units": json.dumps(list(units))}).scalars())


def list_undo_units(session: Session, units: Collection[str]) -> set[str]:
    """Return those of some units that only undid writes. A redo is not an undo."""
    starts = select(changes.c.unit, func.min(changes.c.id)).where(changes.c.unit.in_(units)).group_by(changes.c.unit)
    only_undo = starts.having(func.count() == func.count(changes.c.undoes))
    lines: dict[str, int] = {row[0]: row[1] for row in session.connection.execute(only_undo)}
    depths = dict.fromkeys(lines, 0)
    while lines:
        targets = _load_targets(session, set(lines.values()))
        lines = {unit: target for unit, line in lines.items() if (target := targets[line])}
        for unit in lines:
            depths[unit] += 1
    return {unit for unit, depth in depths.items() if depth % 2}


def list_undone_ids(session: Session, unit: str) -> set[int]:
    """Return the lines that an undo or redo took back, those that these took back, and so on."""
    own = select(changes.c.undoes).where(changes.c.unit == unit, changes.c.undoes.is_not(None))
    level, found = set(session.connection.execute(own).scalars()), set[int]()
    while level:
        found |= level
        level = {target for target in _load_targets(session, level).values() if target} - found
    return found


def _load_targets(session: Session, lines: Collection[int]) -> dict[int, int | None]:
    """Return the line that each of some lines undid, None for those that undid nothing."""
    ids = sorted(lines)
    chunks = (ids[start : start + _CHUNK] for start in range(0, len(ids), _CHUNK))
    targets = (select(changes.c.id, changes.c.undoes).where(changes.c.id.in_(chunk)) for chunk in chunks)
    return {row[0]: row[1] for statement in targets for row in session.connection.execute(statement)}
