"""Let a model write questions on passages, and answer questions about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retrieval_metrics.datasets.json_replies import parse_json_reply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from retrieval_metrics.datasets.candidate import Candidate, Evidence, WantedQuestion
    from retrieval_metrics.datasets.llm_client import KeyT, LlmClient, Parsed, ParsedReplies
    from retrieval_metrics.datasets.passage_formatter import PassageFormatter
    from retrieval_metrics.datasets.prompts import QuestionPrompts


@dataclass(frozen=True, slots=True)
class OtherAnswersTask:
    """A question about which a model is asked which passages answer it, too.

    Attributes:
        question: The question, with what was said before it.
        evidence: What answers it.
        passages: The passages to look at.
    """

    question: str
    evidence: Evidence
    passages: Sequence[int]


class QuestionInterview:
    """Asks the model, and reads its replies."""

    def __init__(
        self,
        client: LlmClient,
        prompts: QuestionPrompts,
        formatter: PassageFormatter,
        *,
        show_progress: bool,
    ) -> None:
        """Set what asking needs."""
        self.client = client
        self.prompts = prompts
        self._formatter = formatter
        self._show_progress = show_progress

    async def write_questions(
        self, tasks: Sequence[WantedQuestion], earlier_questions: Mapping[WantedQuestion, Sequence[str]]
    ) -> ParsedReplies[int, Candidate]:
        """Let the model write questions; the replies are numbered as the tasks."""
        prompts = {
            number: self._writing_prompt(task, earlier_questions.get(task, ())) for number, task in enumerate(tasks)
        }
        return await self._ask(
            prompts,
            lambda number, reply: self._formatter.read_question(tasks[number], reply),
            lambda number: self._formatter.reply_fields(tasks[number].kind),
            "writing questions",
        )

    def _writing_prompt(self, task: WantedQuestion, earlier_questions: Sequence[str]) -> str:
        passages = self._formatter.format_passages(task.passages)
        prompt = self.prompts.writing_prompt(task.kind, passages, by_number=self._formatter.by_number)
        if earlier_questions:
            listed_questions = "\n".join(f"- {question}" for question in earlier_questions)
            prompt += f"\n\nAsk for something else than:\n{listed_questions}"
        return prompt

    async def find_other_answers(self, tasks: Mapping[KeyT, OtherAnswersTask]) -> ParsedReplies[KeyT, list[Evidence]]:
        """Ask which passages answer questions as some evidence does."""
        prompts: dict[KeyT, str] = {}
        for key, task in tasks.items():
            passages = self._formatter.format_passages(task.passages)
            prompts[key] = self.prompts.other_questions_prompt(
                task.question, task.evidence.text, passages, by_number=self._formatter.by_number
            )
        return await self._ask(
            prompts,
            lambda key, reply: self._formatter.read_other_answers(tasks[key].passages, reply),
            lambda _: self._formatter.evidence_fields,
            "looking for other answers",
        )

    async def ask_yes_or_no(
        self, prompt_name: str, texts_by_key: Mapping[KeyT, Mapping[str, str]], subject: str
    ) -> ParsedReplies[KeyT, bool]:
        """Ask what is answered by yes or no; the field of the reply has the name of the prompt."""

        def read_answer(key: KeyT, reply: str) -> bool:
            about = texts_by_key[key].get("text", "")
            answer: bool = parse_json_reply(reply, {prompt_name: bool}, about=about)[prompt_name]
            return answer

        prompts = {key: self.prompts.fill(prompt_name, **texts) for key, texts in texts_by_key.items()}
        return await self._ask(prompts, read_answer, lambda _: {prompt_name: bool}, f"checking {subject}")

    async def _ask(
        self,
        prompts: Mapping[KeyT, str],
        parse: Callable[[KeyT, str], Parsed],
        fields: Callable[[KeyT], Mapping[str, Any]],
        label: str,
    ) -> ParsedReplies[KeyT, Parsed]:
        return await self.client.ask(prompts, parse, fields=fields, label=label, show_progress=self._show_progress)
