"""``python -m gnninterpreter``: the same as the ``gnninterpreter`` command."""

from gnninterpreter.cli import main

if __name__ == "__main__":
    main()
