"""`AutoSVC`: the search for a width and a stage."""
