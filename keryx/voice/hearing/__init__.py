"""Speech to text, and whether anybody speaks."""
