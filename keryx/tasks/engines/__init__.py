"""Who runs tasks: the seam, and the engine of one machine."""
