"""One module per subject the server answers."""
