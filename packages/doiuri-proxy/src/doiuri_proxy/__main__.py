"""The command ``doiuri-proxy``."""

from doiuri_proxy._cli import main

if __name__ == "__main__":
    raise SystemExit(main())
