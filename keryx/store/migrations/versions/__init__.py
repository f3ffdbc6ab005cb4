"""One file per change of the schema, named after `keryx.store.schema.SCHEMA_VERSION`."""
