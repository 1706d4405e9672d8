"""The functions that compiled scripts call by names no script can spell."""

import dataclasses
import typing
from collections.abc import Mapping

from panorama.sandbox.rules import allowlist
from panorama.sandbox.rules.class_marks import ScriptMeta
from panorama.sandbox.rules.classes import Abstract, ClassBuilder, Generic
from panorama.sandbox.rules.guards import make_augmented_target, read, require_writable
from panorama.sandbox.stdlib.asyncio_module import await_value
from panorama.sandbox.stdlib.typing_names import ANYTHING

HOOKS: Mapping[str, object] = {
    allowlist.READ: read,
    allowlist.WRITABLE: require_writable,
    allowlist.AUGMENT: make_augmented_target,
    allowlist.TYPE: type,
    allowlist.SCRIPT_META: ScriptMeta,
    allowlist.MAKE_CLASS: ClassBuilder(),
    allowlist.AWAIT: await_value,
    allowlist.ANYTHING: ANYTHING,
    allowlist.GENERIC: Generic,
    allowlist.ABSTRACT: Abstract,
    allowlist.FIELD: object,
    allowlist.FIELD_KINDS["ClassVar"]: typing.ClassVar,
    allowlist.FIELD_KINDS["InitVar"]: dataclasses.InitVar,
    allowlist.FIELD_KINDS["KW_ONLY"]: dataclasses.KW_ONLY,
}
"""Globals of every script."""
