"""A style that citeproc-py cannot render if a work has authors."""

FAILING = """<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0">
<info><title>T</title><id>i</id><updated>2026-01-01T00:00:00Z</updated></info>
<macro name="who"><names variable="author"><name>
<name-part name="family" font-weight="normal" suffix=","/></name></names></macro>
<citation><sort><key macro="who"/></sort><layout prefix="(" suffix=")"><text macro="who"/></layout></citation>
<bibliography><layout><text macro="who"/></layout></bibliography></style>"""
