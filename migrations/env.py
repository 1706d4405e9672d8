"""How Alembic runs here: on the connection that Panorama hands it, in one transaction."""

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection, transactional_ddl=True)
context.run_migrations()
