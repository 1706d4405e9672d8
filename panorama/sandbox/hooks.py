"""The hooks: what the names stand for that only compiled code can say."""

import dataclasses
import typing
from collections.abc import Mapping

from panorama.sandbox import tables
from panorama.sandbox.asynchrony import awaited
from panorama.sandbox.classes import Abstract, Generic, Maker
from panorama.sandbox.guards import augmented, changed, read
from panorama.sandbox.metas import ScriptMeta
from panorama.sandbox.slices import part
from panorama.sandbox.typing_names import ANYTHING

HOOKS: Mapping[str, object] = {
    tables.READ: read,
    tables.CHANGED: changed,
    tables.AUGMENTED: augmented,
    tables.TYPE: type,
    tables.OWN: ScriptMeta,
    tables.PART: part,
    tables.WHOLE: int,
    tables.MAKE_CLASS: Maker(),
    tables.AWAITED: awaited,
    tables.ANYTHING: ANYTHING,
    tables.GENERIC: Generic,
    tables.ABSTRACT: Abstract,
    tables.FIELD: object,
    tables.FIELD_KINDS["ClassVar"]: typing.ClassVar,
    tables.FIELD_KINDS["InitVar"]: dataclasses.InitVar,
    tables.FIELD_KINDS["KW_ONLY"]: dataclasses.KW_ONLY,
}
"""Globals of every script."""
