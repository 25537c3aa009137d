"""DOIs in markdown-it-py: ``doi_plugin`` links them, ``problems`` checks them."""

from doiuri import DOI, DOISyntaxError, find
from doiuri.plugins import open_resolver, with_suggestion
from doiuri.plugins.options import Options
from doiuri.plugins.sentences import dead_doi
from doiuri.plugins.survey import Need, Survey
from markdown_it.token import Token


def doi_plugin(md, **given):
    options = Options.read(given)
    accepts = md.validateLink

    def accepts_doi(url):
        return url.lower().startswith("doi:") or accepts(url)

    md.validateLink = accepts_doi

    def run(state):
        state.env.update(options=options, lines={}, errors=[])
        for block in state.tokens:
            if block.type == "inline":
                block.children = [*linked(block.children, block.map[0] + 1, state.env)]

    md.core.ruler.push("doi", run)


def linked(tokens, line, env):
    in_link = False
    for token in tokens:
        in_link = token.type == "link_open" or (in_link and token.type != "link_close")
        url = str(token.attrGet("href"))
        if url.lower().startswith("doi:"):
            try:
                token.attrs = attributes(DOI.parse(url), line, env)
            except DOISyntaxError as error:
                env["errors"].append((line, str(with_suggestion(error))))
        is_text = token.type == "text" and not in_link
        yield from linked_mentions(token.content, line, env) if is_text else [token]


def linked_mentions(text, line, env):
    end = 0
    for match in find(text):
        yield Token("text", "", 0, content=text[end : match.start])
        yield Token("link_open", "a", 1, attributes(match.doi, line, env))
        yield Token("text", "", 0, content=match.text)
        yield Token("link_close", "a", -1)
        end = match.end
    yield Token("text", "", 0, content=text[end:])


def attributes(doi, line, env):
    env["lines"].setdefault(doi, line)
    return {"href": doi.link(env["options"].link), "class": "doi"}


def problems(env):
    lines = env["lines"]
    with open_resolver(env["options"], "mdit-doiuri") as resolver:
        survey = Survey(resolver, env["options"].budget)
        survey.ask(dict.fromkeys(lines, Need.EXISTENCE))
    missing = survey.missing.items()
    dead = [(lines[doi], str(dead_doi(doi, meant=meant))) for doi, meant in missing]
    return sorted(env["errors"] + dead), survey.sentence(lines)
