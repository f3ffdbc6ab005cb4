"""Settings: every field, where it was read, and where Keryx keeps its files."""
