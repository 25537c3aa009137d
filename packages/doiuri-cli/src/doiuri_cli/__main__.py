"""``python -m doiuri_cli``."""

from doiuri_cli._main import main

if __name__ == "__main__":
    main()
