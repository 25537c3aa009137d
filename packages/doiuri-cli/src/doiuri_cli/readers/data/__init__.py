"""Data: bibliographies and descriptions of works, and YAML of any kind."""
