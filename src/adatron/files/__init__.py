"""Model files, LIBSVM text, ONNX, and the archives of checkpoints; `adatron.io` has the public names."""
