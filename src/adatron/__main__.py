"""``python -m adatron`` is the command line ``adatron``."""

from adatron.cli import main

if __name__ == "__main__":
    main()
