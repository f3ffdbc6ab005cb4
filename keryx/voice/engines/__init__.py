"""What turns sound into conversation."""
