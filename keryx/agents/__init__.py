"""Coding agents: the seam, and one adapter for each kind."""
