"""What can be asked about DOIs: their records, whether they exist, their metadata.

``_question`` says what the pipeline expects of a question; ``_records``, ``_existence`` and ``_content`` have the
questions themselves. ``_entries`` says which of the answers in a store still count.
"""
