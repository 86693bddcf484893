"""``python -m testsgd``: the command line."""

from testsgd.cli.main import run

if __name__ == "__main__":
    run()
