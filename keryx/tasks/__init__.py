"""Work somebody asked for, from dispatch to news."""
