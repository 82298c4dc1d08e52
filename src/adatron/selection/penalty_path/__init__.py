"""`c_path`: the solutions for all C, on a grid or exactly."""
