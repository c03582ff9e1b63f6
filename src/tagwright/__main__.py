"""`python -m tagwright`."""

from tagwright.cli import main

if __name__ == "__main__":
    main()
