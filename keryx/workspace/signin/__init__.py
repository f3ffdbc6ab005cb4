"""Signing in at Google, and what is kept of it."""
