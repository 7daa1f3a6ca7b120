"""What a question and its judgments are."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Anchor:
    """A judgment that outlives every way of cutting: each passage that holds the quote has the grade.

    The quote is verbatim but for white space. Grade 3 answers the question in full, 2 answers most of it, 1 helps.
    """

    grade: int
    quote: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question in the words of a user, with the places in the language reference that answer it.

    Either every passage stands for itself (``answers``), or the question needs several things at once (``parts``):
    then each part lists the alternatives that would do, and a reader needs one of every part.
    """

    id: str
    text: str
    answers: tuple[Anchor, ...] = ()
    parts: tuple[tuple[Anchor, ...], ...] = ()

    def __post_init__(self) -> None:
        if bool(self.answers) == bool(self.parts):
            raise ValueError(f"question {self.id!r} needs either answers or parts, and not both")
