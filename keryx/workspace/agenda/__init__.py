"""Events read, made, moved and answered, and the time between them."""
