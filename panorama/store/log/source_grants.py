"""Rows of what the user allowed of sources, each for one definition of a function."""

from collections.abc import Collection, Iterable
from datetime import datetime

from sqlalchemy import delete, insert, or_, select

from panorama.store.backend import Session
from panorama.store.tables import source_grants

LASTING = "always"
"""The scope of functions that a rule allows: the definition that the user was shown with it."""


def list_grants(session: Session, scopes: Collection[str]) -> dict[tuple[str, str], str]:
    """Return the digest of the allowed definition by scope and function, such as `crm.add_lead`."""
    columns = source_grants.c
    statement = select(columns.scope, columns.function, columns.digest).where(columns.scope.in_(scopes))
    return {(row.scope, row.function): row.digest for row in session.connection.execute(statement)}


def list_granted(session: Session, prefixes: Collection[str]) -> list[tuple[str, str]]:
    """Return scope and function of the grants whose scopes have one of some prefixes."""
    scope, function = source_grants.c.scope, source_grants.c.function
    where = or_(*(scope.startswith(prefix, autoescape=True) for prefix in prefixes))
    return [(row[0], row[1]) for row in session.connection.execute(select(scope, function).where(where))]


def delete_grants(session: Session, prefix: str, source: str) -> None:
    """Delete the grants of the scopes with a prefix for the functions of one source."""
    is_in_scope = source_grants.c.scope.startswith(prefix, autoescape=True)
    is_of_source = source_grants.c.function.startswith(f"{source}.", autoescape=True)
    session.connection.execute(delete(source_grants).where(is_in_scope, is_of_source))


def add_grants(session: Session, scope: str, functions: Iterable[tuple[str, str]], at: datetime) -> None:
    """Store functions and the digests of their definitions; earlier definitions are replaced."""
    for function, digest in functions:
        session.connection.execute(
            delete(source_grants).where(source_grants.c.scope == scope, source_grants.c.function == function)
        )
        session.connection.execute(insert(source_grants).values(scope=scope, function=function, digest=digest, at=at))


def delete_scope(session: Session, scope: str) -> None:
    """Delete the grants of a scope."""
    session.connection.execute(delete(source_grants).where(source_grants.c.scope == scope))


def delete_before(session: Session, prefix: str, before: datetime) -> None:
    """Delete the grants of scopes with a prefix that are older than a time."""
    is_old = source_grants.c.scope.startswith(prefix, autoescape=True) & (source_grants.c.at < before)
    session.connection.execute(delete(source_grants).where(is_old))
