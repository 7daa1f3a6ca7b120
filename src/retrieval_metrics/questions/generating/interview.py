"""What the model is asked while questions are generated, and what it replies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.models.json_reply import json_reply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from retrieval_metrics.models.prompter import KeyT, Parsed, Prompter, Replies
    from retrieval_metrics.questions.generating.candidate import Candidate, Evidence, WantedQuestion
    from retrieval_metrics.questions.generating.prompts import QuestionPrompts
    from retrieval_metrics.questions.generating.replies import Reading


class Interview:
    """Asks the model, and reads its replies."""

    def __init__(
        self,
        prompter: Prompter,
        prompts: QuestionPrompts,
        reading: Reading,
        personas: Mapping[str, str],
        *,
        show_progress: bool,
    ) -> None:
        """Set what asking needs.

        Args:
            prompter: The model.
            prompts: The prompts.
            reading: Shows passages, and parses replies about them.
            personas: Descriptions of the persons who ask, by name.
            show_progress: Whether progress bars are shown.
        """
        self.prompter = prompter
        self.prompts = prompts
        self._reading = reading
        self._personas = personas
        self._show_progress = show_progress

    async def questions(
        self, tasks: Sequence[WantedQuestion], earlier: Mapping[tuple[str, tuple[int, ...]], Sequence[str]]
    ) -> Replies[int, Candidate]:
        """Let the model write questions.

        Args:
            tasks: The wanted questions.
            earlier: The questions that were written before, by kind and passages.

        Returns:
            The candidates, by the place of their task.
        """
        prompts = {at: self._to_write(task, earlier.get((task.kind, task.places), ())) for at, task in enumerate(tasks)}
        return await self._ask(
            prompts,
            lambda at, reply: self._reading.question(tasks[at], reply),
            lambda at: self._reading.fields(tasks[at].kind),
            "writing questions",
        )

    def _to_write(self, task: WantedQuestion, earlier: Sequence[str]) -> str:
        prompt = self.prompts.to_write(
            task.kind,
            self._reading.shown(task.places),
            by_number=self._reading.by_number,
            persona=None if task.persona is None else self._personas[task.persona],
            difficulty=task.difficulty,
        )
        if earlier:
            prompt += "\n\nAsk for something else than:\n" + "\n".join(f"- {question}" for question in earlier)
        return prompt

    async def others(self, asked: Mapping[KeyT, tuple[str, Evidence, Sequence[int]]]) -> Replies[KeyT, list[Evidence]]:
        """Ask which passages answer questions as some evidence does."""
        prompts = {
            key: self.prompts.to_find_others(
                question, evidence.text, self._reading.shown(places), by_number=self._reading.by_number
            )
            for key, (question, evidence, places) in asked.items()
        }
        return await self._ask(
            prompts,
            lambda key, reply: self._reading.others(asked[key][2], reply),
            lambda _: self._reading.fields_of_others,
            "looking for other answers",
        )

    async def whether(self, name: str, asked: Mapping[KeyT, Mapping[str, str]], what: str) -> Replies[KeyT, bool]:
        """Ask what is answered by yes or no.

        Args:
            name: The name of the prompt, which the field of the reply has, too.
            asked: The texts in the prompts.
            what: What is checked, for the progress bar.
        """

        def yes_or_no(key: KeyT, reply: str) -> bool:
            yes: bool = json_reply(reply, {name: bool}, about=asked[key].get("text", ""))[name]
            return yes

        prompts = {key: self.prompts.filled(name, **texts) for key, texts in asked.items()}
        return await self._ask(prompts, yes_or_no, lambda _: {name: bool}, f"checking {what}")

    async def _ask(
        self,
        prompts: Mapping[KeyT, str],
        parse: Callable[[KeyT, str], Parsed],
        fields: Callable[[KeyT], Mapping[str, Any]],
        label: str,
    ) -> Replies[KeyT, Parsed]:
        return await self.prompter.ask(prompts, parse, fields=fields, label=label, show_progress=self._show_progress)
