"""Keryx, the herald: it takes spoken work to a coding agent and brings the result back."""
