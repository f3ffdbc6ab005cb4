"""Telling the owner what came of their work."""
