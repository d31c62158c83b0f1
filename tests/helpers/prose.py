"""What a Markdown page says: its blocks, its sentences, its links and the names in backticks."""

import re

FENCE = re.compile(r"^( *)```.*?^ *```[^\n]*$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`([^`]+)`")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
START = re.compile(r"\s*(?:[-*] |\d+\. |\||#|!\[|\$\$|    )")


def without_code(text):
    """The page with empty lines where it has blocks of code or of mathematics."""
    for block in (FENCE, re.compile(r"^ *\$\$.*?\$\$", re.DOTALL | re.MULTILINE)):
        text = block.sub(lambda found: "\n" * found[0].count("\n"), text)
    return text


def blocks(text):
    """Paragraphs, items of lists, headings and lines of tables, in order, each on one line."""
    found, begun = [], False
    for line in without_code(text).splitlines():
        if not line.strip():
            begun = False
        elif not begun or START.match(line):
            found.append(line.rstrip())
            begun = True
        else:
            found[-1] += " " + line.strip()
    return found


def is_prose(block):
    """Whether a block is a paragraph or an item of a list."""
    return not re.match(r"\s*(\||#|!\[|<|    \S)", block)


def sentences(text):
    """The sentences of the paragraphs and lists of a page, without their marks."""
    found = []
    for block in filter(is_prose, blocks(text)):
        plain = LINK.sub(r"\1", CODE.sub("code", block))
        plain = re.sub(r"\$[^$]+\$", "x", re.sub(r"^\s*([-*]|\d+\.) ", "", plain))
        found += re.split(r"(?<!\bal\.)(?<=[.?!])[\"”)*_]*\s+", plain.strip())
    return [sentence for sentence in found if sentence]


def cell_sentences(text):
    """The sentences in the cells of tables."""
    rows = (block for block in blocks(text) if block.lstrip().startswith("|"))
    cells = (cell for row in rows for cell in CODE.sub("`code`", row).split("|"))
    return [each for cell in cells for each in sentences(cell.strip())]


def words(sentence):
    """How many words a sentence has; a name in backticks counts as one."""
    return sum(bool(re.search(r"\w", word)) for word in sentence.split())


def first_screen(text, lines=40):
    """The first lines of a page, up to the end of a paragraph."""
    every = without_code(text).splitlines()
    while lines < len(every) and every[lines].strip():
        lines += 1
    return "\n".join(every[:lines])


def anchors(text):
    """The anchors that GitHub gives to the headings of a page."""
    titles = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    plain = (LINK.sub(r"\1", title).replace("`", "").lower() for title in titles)
    return {re.sub(r"[^\w\- ]", "", title).strip().replace(" ", "-") for title in plain}
