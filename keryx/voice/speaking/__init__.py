"""The one voice every caller hears, and its spare."""
