"""The lines a call may come in on."""
