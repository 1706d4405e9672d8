"""The SQL that SQLAlchemy writes for PostgreSQL: numbers and texts hold what they hold in SQLite, and sort alike.

`register()` makes it the dialect of URLs that begin with `postgresql+panorama`.
"""

from typing import Any, ClassVar

from sqlalchemy import BigInteger, Integer, Text, types
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.base import PGCompiler, PGTypeCompiler
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg, PGExecutionContext_psycopg
from sqlalchemy.sql.elements import BinaryExpression
from sqlalchemy.sql.functions import Function

DRIVER = "postgresql+panorama"
"""The beginning of the URLs of engines that use this dialect."""


class _Number(BigInteger):
    """A number of 64 bits."""

    render_bind_cast = True


class _StatementCompiler(PGCompiler):
    """Gives operators and functions the meaning that they have in SQLite."""

    def visit_like_op_binary(self, binary: BinaryExpression[Any], operator: Any, **options: Any) -> str:
        """Ignore the case of ASCII letters; those are all that have a case where texts sort by code point."""
        return self.visit_ilike_op_binary(binary, operator, **options)  # pyright: ignore[reportUnknownMemberType] (SQLAlchemy declares no types)

    def visit_not_like_op_binary(self, binary: BinaryExpression[Any], operator: Any, **options: Any) -> str:
        return self.visit_not_ilike_op_binary(binary, operator, **options)  # pyright: ignore[reportUnknownMemberType] (as above)

    def visit_sum_func(self, fn: Function[Any], **options: Any) -> str:
        """Add whole numbers to a whole number; PostgreSQL's sum of 64 bits is a decimal number."""
        total = f"sum{self.function_argspec(fn, **options)}"
        return f"CAST({total} AS BIGINT)" if isinstance(fn.type, Integer) else total


class _TypeCompiler(PGTypeCompiler):
    """Declares every whole number with 64 bits, and every text without a length; columns sort by code point."""

    def visit_INTEGER(self, type_: types.Integer, **options: Any) -> str:  # noqa: ARG002, N802 (SQLAlchemy's names)
        return self.visit_BIGINT(BigInteger(), **options)

    def visit_VARCHAR(self, type_: types.String, **options: Any) -> str:  # noqa: N802 (SQLAlchemy's name)
        return self.visit_TEXT(type_, **options)

    def visit_TEXT(self, type_: types.String, **options: Any) -> str:  # noqa: N802 (SQLAlchemy's name)
        is_column = options.pop("type_expression", None) is not None
        return super().visit_TEXT(Text(collation="C" if is_column else type_.collation), **options)


class _ExecutionContext(PGExecutionContext_psycopg):
    """Lets a statement with the execution option `delay` wait, if the connection can let it."""

    def create_default_cursor(self) -> Any:
        cursor: Any = super().create_default_cursor()
        cursor.delay = self.execution_options.get("delay", "")
        return cursor


class PanoramaDialect(PGDialect_psycopg):
    """PostgreSQL by psycopg, with the column types of Panorama."""

    supports_statement_cache = True
    statement_compiler = _StatementCompiler
    type_compiler_cls = _TypeCompiler
    execution_ctx_cls = _ExecutionContext
    colspecs: ClassVar = {**PGDialect_psycopg.colspecs, Integer: _Number}


def register() -> None:
    """Make the dialect known to SQLAlchemy."""
    registry.register("postgresql.panorama", __name__, PanoramaDialect.__name__)
