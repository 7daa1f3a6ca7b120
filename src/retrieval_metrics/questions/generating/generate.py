"""Generate an evaluation set from a corpus with a model: the two public functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal

from retrieval_metrics.checks import arguments_of, passed_on, positive_integer, proportion, with_options_of
from retrieval_metrics.models.prompter import Prompter
from retrieval_metrics.questions.generating.contents import Contents
from retrieval_metrics.questions.generating.corpus import Corpus
from retrieval_metrics.questions.generating.elsewhere import Elsewhere
from retrieval_metrics.questions.generating.generation import ANSWERABLE, CHECKS, Generation, Wanted
from retrieval_metrics.questions.generating.interview import Interview
from retrieval_metrics.questions.generating.kinds import (
    COMPARISON,
    DEFAULT_SHARES,
    DIFFICULTIES,
    KINDS,
    SEVERAL_PASSAGES,
    UNANSWERABLE,
    shared_out,
)
from retrieval_metrics.questions.generating.passage_queue import MOST_PER_PASSAGE
from retrieval_metrics.questions.generating.prompts import QuestionPrompts
from retrieval_metrics.questions.generating.replies import Reading
from retrieval_metrics.retrieving.ways import run_until_complete

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Unpack

    from retrieval_metrics.models.prompter import PromptOptions
    from retrieval_metrics.questions.generating.generated import GeneratedQuestions

PASSAGE_LENGTH = 2000


@with_options_of(Prompter)
async def agenerate_questions(
    corpus: Any,
    model: Any,
    n: int,
    *,
    kinds: str | Collection[str] | Mapping[str, float] | None = None,
    difficulty: str | Collection[str] | Mapping[str, float] | None = None,
    personas: Collection[str] | Mapping[str, str] | None = None,
    checks: Collection[str] = CHECKS,
    evidence: Literal["quotes", "sentences"] = "quotes",
    retriever: Any = None,
    depth: int = 5,
    most_overlap: float = 0.5,
    passage_length: int = PASSAGE_LENGTH,
    prompts: QuestionPrompts | None = None,
    seed: int = 0,
    show_progress: bool = False,
    **asking: Unpack[PromptOptions],
) -> GeneratedQuestions:
    """Let a model write questions on a corpus, on the running event loop.

    This is the asynchronous twin of `generate_questions`, with the same arguments, result and errors. Cancelling it
    cancels the calls that are under way.
    """
    positive_integer(n, "n")
    positive_integer(depth, "depth")
    proportion(most_overlap, "most_overlap", zero=True, one=True)
    _among(checks, CHECKS, "checks")
    _among([evidence], ("quotes", "sentences"), "evidence")
    difficulties = None if difficulty is None else shared_out(n, difficulty, DIFFICULTIES, "difficulty")
    shares = shared_out(n, DEFAULT_SHARES if kinds is None else kinds, KINDS, "kinds")
    if UNANSWERABLE in shares and ANSWERABLE not in checks:
        raise ValueError(f"{UNANSWERABLE!r} questions need the check {ANSWERABLE!r}: nothing else tells that they are")
    described = _described(personas)
    prompter = passed_on("agenerate_questions", Prompter, (model,), {**asking})
    read = Corpus.of(corpus, passage_length)
    if COMPARISON in shares and len(read.documents) == 1:
        raise ValueError(f"the corpus is one document, which cannot be compared: leave {COMPARISON!r} out of kinds")
    if len(read.pieces) == 1 and SEVERAL_PASSAGES in shares:
        if kinds is not None:
            raise ValueError(
                f"the corpus is one passage, so no question needs several: leave {SEVERAL_PASSAGES!r} out of kinds, "
                f"or cut it into more passages than with passage_length={passage_length}"
            )
        alone = {kind: share for kind, share in DEFAULT_SHARES.items() if kind != SEVERAL_PASSAGES}
        shares = shared_out(n, alone, KINDS, "kinds")
    for kind, count in shares.items():
        if count > MOST_PER_PASSAGE * len(read.pieces):
            raise ValueError(
                f"{count} questions of the kind {kind!r} are too many for a corpus of {len(read.pieces)} passages: at "
                f"most {MOST_PER_PASSAGE} of a kind are made from one; add texts, or use a smaller passage_length than "
                f"{passage_length}"
            )
    prompts = prompts or QuestionPrompts()
    reading = Reading(read, evidence, most_overlap, prompts.language)
    return await Generation(
        read,
        Contents(read.passages.tokens, seed),
        Wanted(shares, difficulties, checks, described),
        Interview(prompter, prompts, reading, described, show_progress=show_progress),
        Elsewhere(read, retriever, depth=depth, show_progress=show_progress),
    ).run()


@arguments_of(agenerate_questions)
def generate_questions(*args: Any, **options: Any) -> GeneratedQuestions:  # noqa: D417  (those of agenerate_questions)
    r"""Let a model write questions on a corpus, and keep those whose quoted answers are in the corpus.

    The model writes a question on a passage and quotes the words that answer it. The quote must be in the passage,
    compared as a `Quote` is; its exact words are taken from the passage. If it is not, the model is told what was wrong
    and asked once more before the question is rejected. Judgments are groups, all of which are needed. Each holds a
    `Quote` and the `Span` where it is, of which one suffices, because a chunk boundary can cut a quote but not a span.

    Passages are chosen so that even a few questions are spread over clusters of content. The result depends only on the
    seed and the replies: with a cache, the same call returns the same questions without asking the model again, and an
    interrupted call continues where it stopped.

    Args:
        corpus: Texts by id, a list of `Retrieved`, documents or nodes of an installed host, a folder of text files, or
            a file that `read_corpus` reads. Spans have the source of a `Retrieved` with a source and offsets, or else
            the id of the text. Texts longer than `passage_length` are cut, only for the prompts.
        model: A function from a prompt to a reply, synchronous or not, or a chat model or LLM of an installed host.
        n: The number of questions.
        kinds: The kinds of questions, as a name, names in equal shares, or a mapping of names to shares: `one_passage`;
            `other_words`, a question that avoids the words of its passage; `several_passages`, all of which are needed
            to answer; `keywords`, a few words for a search box. None takes 4 : 3 : 2 : 1 of these. Only if asked for:
            `comparison`, which needs passages of two documents; `conversational`, a follow-up that is understood only
            after what was said before it; `unanswerable`, which no passage answers, so nothing is judged for it.
        difficulty: The difficulties, likewise, by the share of the content words of a question that are in the passages
            it was made from: `easy` from two thirds, `medium` from one third, otherwise `hard`. The model is told
            which words to use, and what it writes is measured. None accepts any.
        personas: Descriptions of the persons who ask, such as `["a nurse on her first night shift"]`, or descriptions
            by name. They ask in turn; the name is the label `persona`.
        checks: The checks. All but the last ask the model again, only about texts. `answerable`: the quotes alone
            answer the question; an unanswerable one is answered by none of the passages that BM25 and the retriever
            find.
            `needed`: the rest of the passage does not answer it, nor do all passages but one; a follow-up is not
            understood alone. `others`: which other passages answer, among those that BM25 and the retriever find; these
            are judged too. `answers`: the quotes bear out the reference answer; without this check there is none.
            `duplicates`: nearly identical questions are dropped, without a model.
        evidence: How the model names the answer: with copied `quotes`, or with the numbers of `sentences`, for models
            that copy badly.
        retriever: Any retriever that `retrieve` takes, for the check `others`.
        depth: How many passages BM25 and the retriever each find for that check.
        most_overlap: The largest share of its content words that an `other_words` question may take from its passage.
        passage_length: The length in characters above which texts are cut; at least 200.
        prompts: Your own prompts; None takes those of this package.
        model_name: The name of the model, for the cache and the provenance; None takes the model's own name.
        cache: A file such as `replies.jsonl` to which every reply is written as it arrives.
        workers: How many calls may be under way at once.
        timeout: Seconds that one attempt of a call may take; None sets no limit.
        retries: How often a failed call is repeated: after 0.5 seconds, then 1, 2, 4 ... and at most 30.
        budget: The largest number of calls; replies from the cache are free.
        token_budget: The largest number of tokens in prompts and replies together.
        count_tokens: Returns the number of tokens of a text; None counts one token for every four characters.
        seed: Seed of the choice of passages.
        show_progress: Show progress bars on stderr; needs rich.

    Returns:
        The questions, the rejected ones with reasons, and the calls. `print` shows how they are distributed. If too few
        replies are usable, or a budget is spent, there are fewer than `n` questions, and `stopped` says why.

    Raises:
        TypeError: If the corpus or the model has another type, or the first reply is not a text.
        ValueError: If the corpus is empty, has an id twice, or is too small for `n` questions; if an option has an
            unknown value; if unanswerable questions are wanted without the check `answerable`, or a comparison of one
            document; if there is a cache but no name of the model.
        OSError: If a file cannot be read or written.
        ImportError: If bm25s is not installed: `pip install 'retrieval-metrics[questions]'`.
        Exception: The error of a model that never replied.

    Example:
        >>> import json
        >>> import retrieval_metrics as rm
        >>> def model(prompt):  # stands for a real one
        ...     return json.dumps(
        ...         {"question": "Who opens the vault at night?", "quotes": ["opened at night by the duty officer"]}
        ...     )
        >>> corpus = {"rules": "The vault may be opened at night by the duty officer, who signs for it."}
        >>> made = rm.generate_questions(corpus, model, 1, kinds="one_passage", checks=())
        >>> (query,) = made.questions.queries
        >>> made.questions.queries[query]
        'Who opens the vault at night?'
        >>> made.questions.qrels[query]
        [[Quote(text='opened at night by the duty officer'), Span(source='rules', start=17, end=52)]]
    """
    return run_until_complete(passed_on("generate_questions", agenerate_questions, args, options))


def _described(personas: Any) -> dict[str, str]:
    """Return descriptions of persons by name; a description without a name is its own name."""
    if isinstance(personas, str) or not isinstance(personas, (Iterable, NoneType)):
        raise TypeError(f"personas must be descriptions, or descriptions by name, got {personas!r}")
    described = dict(personas) if isinstance(personas, Mapping) else {one: one for one in personas or ()}
    for name, description in described.items():
        if not all(isinstance(one, str) and one.strip() for one in (name, description)):
            raise TypeError(f"a persona is described by a text, got {description!r}")
    if personas is not None and not described:
        raise ValueError("personas holds no description; None asks for no persona")
    return {name: " ".join(description.split()).rstrip(".") for name, description in described.items()}


def _among(names: Collection[str], known: Collection[str], what: str) -> None:
    if isinstance(names, str):
        raise TypeError(f"{what} must be names such as {tuple(known)!r}, got the bare string {names!r}")
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"{what} must be among {', '.join(map(repr, known))}, got {unknown[0]!r}")
