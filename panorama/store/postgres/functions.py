"""The functions of SQLite that statements of the store call, as functions of a PostgreSQL schema.

The planner replaces each call by the function's body, so a call costs no more than its body.
"""

from sqlalchemy import Connection, text

_ENTRY = 'CREATE TYPE json_entry AS (key bigint, value text COLLATE "C")'
_HAS_ENTRY = "SELECT to_regtype(quote_ident(current_schema()) || '.json_entry') IS NOT NULL"
_EACH = """
CREATE OR REPLACE FUNCTION json_each(list text) RETURNS SETOF json_entry LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT number - 1, entry COLLATE "C" FROM json_array_elements_text(list::json) WITH ORDINALITY AS e(entry, number)
$$
"""
_EXTRACT = r"""
CREATE OR REPLACE FUNCTION json_extract(document text, path text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT document::json #>> regexp_split_to_array(trim(translate(path, '$.[]', '    ')), ' +')
$$
"""


def create_functions(connection: Connection) -> None:
    """Create `json_each` for lists and `json_extract` in the current schema, or replace them.

    Values are texts; a path has plain names and numbers, such as `$.name` or `$[1]`.
    """
    if not connection.execute(text(_HAS_ENTRY)).scalar():
        connection.execute(text(_ENTRY))
    for statement in (_EACH, _EXTRACT):
        connection.exec_driver_sql(statement)
