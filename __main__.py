"""`python -m evenhand`, the same as the command `evenhand`."""

from .cli import main

if __name__ == "__main__":
    main()
