"""Runs the migrations on the connection that `keryx.store.upgrade` hands over."""

from alembic import context

from keryx.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
