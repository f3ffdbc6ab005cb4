"""What the voice may call, one module per subject."""
