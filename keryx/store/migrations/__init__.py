"""Alembic migrations, from the first table on; run by `keryx.store.upgrade`, shipped inside the package."""
