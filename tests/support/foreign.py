"""Files that stand where one of ours is expected, which no writer may change."""

MERGE = b"""{"doiuri-lock": 1,
"accepted": {
<<<<<<< HEAD
"10.1000/A": "withdrawn, see the letter of 3 May"
=======
"10.1000/B": "printed wrongly"
>>>>>>> theirs
}}
"""

FOREIGN = {
    "notes": "Notes: Jürgen asked for 10.1000/1\n".encode(),
    "foreign JSON": b'{"name": "site", "lockfileVersion": 3, "packages": {}}\n',
    "list": b"[]",
    "newer format": b'{"doiuri-lock": 2,"accepted": {"10.1000/A": "withdrawn"}}\n',
    "merge conflict": MERGE,
    "cut off": b'{"doiuri-lock": 1,\n"accepted": {\n"10.1000/A": "withdr',
    "two sides": b'{"doiuri-lock": 1,"accepted": {"10.1000/a": "one", "10.1000/A": "other"}}',
    "unknown line": b'{"doiuri-lock": 1,"accepted": {"10.1000/A": ["withdrawn", "2026"]}}',
    "binary": bytes(range(256)),
    "UTF-16": '{"doiuri-lock": 1}'.encode("utf-16"),
}
"""Contents that are none of ours: lock file, bibliography, store. An empty file is: it has nothing to lose."""

REMEDIES = (
    "restore it, delete it to start a new one, or name another file|upgrade doiuri"
    "|resolve it, keeping the lines of both sides|correct or delete its line"
)
"""What the errors say to do, as a pattern."""
