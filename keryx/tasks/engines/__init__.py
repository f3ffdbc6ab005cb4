"""What runs tasks: in this process, or on many machines."""
