"""The one database: its schema, its migrations, and how to open it."""
