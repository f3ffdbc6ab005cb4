"""The demonstration's agent: no model, but what it does is real."""
