"""What is said, given what was heard."""
