"""A conversation on a line: hearing, thinking, speaking, and whose turn it is."""
