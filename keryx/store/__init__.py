"""What outlives the process: the schema, its migrations, and one way to read and write it."""
