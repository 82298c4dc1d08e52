"""`sigma_path`: the kernel selection procedure of the documents."""
