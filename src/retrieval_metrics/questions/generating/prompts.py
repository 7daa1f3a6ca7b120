"""The prompts for generating questions."""

from __future__ import annotations

from dataclasses import dataclass, fields
from string import Template

from retrieval_metrics.inputs.fingerprints import fingerprint
from retrieval_metrics.questions.generating.kinds import KINDS

VERSION = "1"
"""Increased whenever a prompt here changes, because replies to other prompts are other data."""

_RULES = """\
- It must be understood by itself: name what it is about. Never mention a passage, a text, a section or an author.
- Ask for something that the passage says and few other texts would say.
- Write in the language of the passage."""

_ONE_PASSAGE = f"""\
Write one question of somebody who needs what the passage below says and has never seen it.
{_RULES}
$reply

$passages"""

_SEVERAL_PASSAGES = f"""\
Write one question that takes all of the passages below together to answer: none of them may answer it alone.
{_RULES}
$reply
There must be at least one from every passage.

$passages"""

_OTHER_WORDS = f"""\
Write one question of somebody who needs what the passage below says but does not know its words. Describe the need as \
such a person would, with a goal or a trouble they have. Use none of the telling words of the passage where another \
word will do.
{_RULES}
$reply

$passages"""

_KEYWORDS = """\
Write what somebody types into a search box who needs what the passage below says: two to five words, no sentence and \
no question mark. Write in the language of the passage.
$reply

$passages"""

_QUOTES = """\
Reply with JSON and nothing else: {"question": "...", "quotes": ["..."]}
The quotes are what it takes to answer, one to three, each a whole sentence or clause copied letter for letter."""

_SENTENCES = """\
Reply with JSON and nothing else: {"question": "...", "sentences": [1]}
The numbers are those of the sentences that it takes to answer, one to three."""

_ANSWERABLE = """\
Can the question be answered completely from the text below alone, by somebody who knows nothing else of the matter?
Reply with JSON and nothing else: {"answerable": true} or {"answerable": false}

<question>$question</question>
<text>
$text
</text>"""

_OTHERS = """\
The question below is answered by the quote. Which of the passages say the same, so that each would do in its place?
$reply

<question>$question</question>
<quote>$quote</quote>
$passages"""

_OTHER_QUOTES = """\
Reply with JSON and nothing else: {"quotes": ["..."]}
Of each such passage, the one sentence or clause that says it, copied letter for letter; [] if there is none."""

_OTHER_SENTENCES = """\
Reply with JSON and nothing else: {"sentences": [1]}
Of each such passage, the number of the one sentence that says it; [] if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPrompts:
    """The prompts of `generate_questions`, as texts with `$names` to fill in.

    Pass your own for those that you want to change: `QuestionPrompts(keywords="... $reply ... $passages")`. `$$` is a
    dollar sign.

    Attributes:
        one_passage: Asks for a question on one passage. It has `$passages` and `$reply`, as have the next three.
        several_passages: Asks for a question that needs several passages.
        other_words: Asks for a question that avoids the words of the passage.
        keywords: Asks for a search of a few words.
        quotes: The text of `$reply` in these prompts for a question with quotes. It has no `$names`.
        sentences: The same with the numbers of sentences. It has no `$names`.
        answerable: Asks whether a text answers a question. It has `$question` and `$text`.
        others: Asks which other passages answer a question. It has `$question`, `$quote`, `$passages` and `$reply`.
        other_quotes: The text of `$reply` in `others` for quotes. It has no `$names`.
        other_sentences: The same with the numbers of sentences. It has no `$names`.

    Raises:
        ValueError: If a prompt lacks one of its `$names`, or has others.

    Example:
        >>> QuestionPrompts().version
        '1'
        >>> own = QuestionPrompts(keywords="Search words for this, please. $reply $passages")
        >>> own.version
        'own-15f859e7'
    """

    one_passage: str = _ONE_PASSAGE
    several_passages: str = _SEVERAL_PASSAGES
    other_words: str = _OTHER_WORDS
    keywords: str = _KEYWORDS
    quotes: str = _QUOTES
    sentences: str = _SENTENCES
    answerable: str = _ANSWERABLE
    others: str = _OTHERS
    other_quotes: str = _OTHER_QUOTES
    other_sentences: str = _OTHER_SENTENCES

    def __post_init__(self) -> None:
        for name, wanted in _HOLDS.items():
            prompt = getattr(self, name)
            if not isinstance(prompt, str):
                raise TypeError(f"the prompt {name!r} must be a str, got {prompt!r}")
            template = Template(prompt)
            if not template.is_valid() or set(template.get_identifiers()) != wanted:
                raise ValueError(
                    f"the prompt {name!r} must hold {', '.join(f'${one}' for one in sorted(wanted)) or 'no $names'}, "
                    f"and $$ for a dollar sign; got {prompt!r}"
                )

    def filled(self, name: str, **values: str) -> str:
        """Return a prompt with its names filled in."""
        return Template(getattr(self, name)).substitute(values)

    @property
    def version(self) -> str:
        """The version of the prompts; for prompts of your own, a name derived from their texts."""
        said = [getattr(self, one.name) for one in fields(self)]
        ours = [one.default for one in fields(self)]
        return VERSION if said == ours else f"own-{fingerprint(said)[:8]}"


_HOLDS: dict[str, set[str]] = {
    **{kind: {"passages", "reply"} for kind in KINDS},
    **{name: set() for name in ("quotes", "sentences", "other_quotes", "other_sentences")},
    "answerable": {"question", "text"},
    "others": {"question", "quote", "passages", "reply"},
}
