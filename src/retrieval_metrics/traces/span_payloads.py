"""Find documents, questions, failures and texts in the payloads of spans, whichever host wrote them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

from retrieval_metrics.inputs.host_documents import find_item, is_content_block
from retrieval_metrics.inputs.items import item_identity
from retrieval_metrics.traces.payload_decoding import JSON_START, decode_payload

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from retrieval_metrics.inputs.items import Retrieved


# The keys under which hosts keep the query of a search.
QUERY_KEYS = (
    "query", "query_str", "input", "question", "q", "search_query", "text", "kwargs", "query_bundle",
    "str_or_query_bundle",
)  # fmt: skip
# The keys under which hosts keep the documents that a search found.
DOCUMENT_KEYS = (
    "documents", "output", "artifact", "data", "kwargs", "metadata", "return_value", "result", "nodes",
    "structuredContent", "structured_content", "tool_output", "raw_output", "response",
    "results", "search_results", "hits", "matches", "passages", "chunks",
)  # fmt: skip
# The keys under which hosts keep the text of a model.
ANSWER_KEYS = (
    "generations", "choices", "replies", "messages", "message", "message_content", "contents", "parts", "blocks",
    "said", "content", "text", "kwargs", "output", "answer", "response", "data",
)  # fmt: skip
# Under these keys a message is a list of blocks, which together are one text.
BLOCK_LIST_KEYS = {"content", "contents", "parts", "blocks"}
# The keys of the type of a block. Types of text contain "text"; those of thoughts and tool calls do not.
BLOCK_TYPE_KEYS = ("type", "block_type", "part_kind")
# The keys under which a tool message has the result of a call.
RESULT_KEYS = (
    "artifact", "tool_output", "structuredContent", "output", "result", "results", "response", "content",
    "blocks", "metadata",
)  # fmt: skip
# The values by which a result says that its call failed, by key.
FAILURE_VALUES = {
    "success": ["false"],
    "ok": ["false"],
    "is_error": ["true"],
    "isError": ["true"],
    "error": ["true"],
    "status": ["error", "failed"],
    "part_kind": ["retry-prompt"],
    "outcome": ["retried", "failed", "denied"],
}
# The keys under which a result has the error of its call.
ERROR_KEYS = ("error", "errors", "error_code")
# What LangChain, LlamaIndex and Pydantic AI keep beside a result is logged, but no model reads it.
UNSENT_KEYS = {"artifact", "raw_output", "metadata"}
# A longer JSON result holds documents, so it is decoded only if it begins like an error.
MAX_FAILURE_LENGTH = 2_000
DOCUMENTS_HINT = "; documents= takes a function that returns those that the search found"


def find_documents(payload: object) -> list[Retrieved] | None:
    """Return the documents in a payload; None if it holds no list of documents.

    Raises:
        ValueError: If it holds several lists that differ, or only empty ones beside one under an unknown key.
    """
    document_lists = list(_find_document_lists(payload, DOCUMENT_KEYS))
    if not document_lists:
        document_lists = list(_find_document_lists(payload, (*DOCUMENT_KEYS, "content", "blocks")))
    if not document_lists:
        return None
    filled_lists = [documents for documents in document_lists if documents]
    if not filled_lists:
        if any(_find_document_lists(payload, None)):
            raise ValueError(
                "it holds an empty list of documents, and a filled one under a name that is not known" + DOCUMENTS_HINT
            )
        return document_lists[0]
    first_identities = list(map(item_identity, filled_lists[0]))
    for documents in filled_lists[1:]:
        if list(map(item_identity, documents)) != first_identities:
            raise ValueError(f"it holds {len(filled_lists)} lists of documents that differ" + DOCUMENTS_HINT)
    return filled_lists[0]


def _find_document_lists(payload: Any, keys: Collection[str] | None) -> Iterator[list[Retrieved]]:
    """Yield each list under some keys whose elements are all documents; None stands for every key."""
    for value in _walk(payload, keys, decode=True):
        if not isinstance(value, list):
            continue
        elements = value
        documents = _read_documents(elements)
        if len(documents) < len(elements) or any(map(_may_hold_json, documents)):
            elements = []
            for block in value:
                elements += unwrap_block(block)
            documents = _read_documents(elements)
        if len(documents) == len(elements):
            yield documents
            continue
        for element in elements:
            if isinstance(element, dict):
                yield from _find_document_lists(element, keys)


def _read_documents(elements: Iterable[Any]) -> list[Retrieved]:
    """Return the documents among the elements of a list."""
    documents = map(find_item, elements)
    return [document for document in documents if document is not None]


def _may_hold_json(document: Retrieved) -> bool:
    text = document.text or ""
    return document.id is None and text[:1] in {"[", "{"}


def unwrap_block(block: object) -> list[Any]:
    """Return the contents of a block of a tool's result: JSON in its text, an MCP resource or a search result.

    A block that wraps none of these is returned itself.
    """
    document = find_item(block)
    if not isinstance(block, dict) or (document is not None and document.id is not None):
        return [block]
    if isinstance(block.get("text"), str):
        decoded = decode_payload(block["text"])
        if isinstance(decoded, str):
            return [block]
        if isinstance(decoded, list):
            return decoded
        return [decoded]
    if document is not None:
        return [block]
    resource = block["resource"] if isinstance(block.get("resource"), dict) else block
    address_key = "source" if block.get("type") == "search_result" else "url"
    address = resource.get("uri", resource.get(address_key))
    if address is None:
        return [block]
    text = resource.get("text") or "\n".join(list_texts(resource.get("content")))
    return [{"id": address, "text": text or None}]


def find_failure(payload: object) -> str | None:
    """Return why a result says that its call failed; None if it does not."""
    result = _unwrap_only_text(payload)
    if isinstance(result, str) and _may_be_a_failure(result):
        result = decode_payload(result)
    if not isinstance(result, dict):
        return None
    errors = [result[key] for key in ERROR_KEYS if result.get(key)]
    if errors and _holds_only_an_error(result):
        return str(errors[0])
    if not _has_failure_value(result):
        return None
    for key in (*RESULT_KEYS, "error"):
        text = find_last_text(result.get(key))
        if text:
            return text
    return "no reason was given"


def _unwrap_only_text(payload: object) -> Any:
    """Return the text of a payload that is one block of text; any other payload as it is."""
    if not isinstance(payload, list) or len(payload) != 1:
        return payload
    (block,) = payload
    if isinstance(block, dict) and is_content_block(block):
        return block.get("text")
    return payload


def _may_be_a_failure(text: str) -> bool:
    """Return whether a text may be a failure as JSON, so that it is worth decoding."""
    if not text.startswith("{"):
        return False
    return len(text) <= MAX_FAILURE_LENGTH or text.startswith('{"error":') or '"isError"' in text


def _holds_only_an_error(payload: dict[str, Any]) -> bool:
    return not any(value for key, value in payload.items() if key not in ERROR_KEYS and key != "type")


def _has_failure_value(payload: dict[str, Any]) -> bool:
    if FAILURE_VALUES.keys().isdisjoint(payload):  # the usual case, and fast
        return False
    return any(str(payload.get(key)).lower() in values for key, values in FAILURE_VALUES.items())


def find_question(payload: object) -> str | None:
    """Return what a search was asked for; None if that is unknown."""
    if isinstance(payload, dict) and len(payload) == 1:
        return find_question(next(iter(payload.values())))
    if isinstance(payload, list) and payload and all(map(_is_plain_text, payload)):
        return "; ".join(payload)
    for value in _walk(payload, QUERY_KEYS):
        if _is_plain_text(value):
            return value
    return None


def _is_plain_text(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and not JSON_START.match(value)


def find_last_text(payload: object) -> str | None:
    """Return the last text in the message of a model; the blocks of a message are one text."""
    return _find_last_text(decode_payload(payload))


def _find_last_text(payload: Any, *, is_block_list: bool = False) -> str | None:
    if isinstance(payload, dict):
        if payload.get("thought"):
            return None
        for key in ANSWER_KEYS:
            text = _find_last_text(payload.get(key), is_block_list=key in BLOCK_LIST_KEYS)
            if text:
                return text
        return None
    if isinstance(payload, list):
        return _find_last_text_of_list(payload, is_block_list=is_block_list)
    if isinstance(payload, str) and payload.strip():
        return payload
    return None


def _find_last_text_of_list(elements: list[Any], *, is_block_list: bool) -> str | None:
    types = list(map(find_block_type, elements))
    is_block_list = is_block_list or all("text" in block_type for block_type in types)
    texts = []
    for element, block_type in zip(elements, types, strict=True):
        if is_block_list and block_type and "text" not in block_type:  # a thought, or the call of a tool
            continue
        text = _find_last_text(element)
        if text:
            texts.append(text)
    if not texts:
        return None
    return "".join(texts) if is_block_list else texts[-1]


def find_block_type(block: object) -> str:
    """Return the type of a block; empty if it has none."""
    if isinstance(block, dict):
        for key in BLOCK_TYPE_KEYS:
            if key in block:
                return str(block[key])
    return ""


def list_texts(payload: object) -> list[str]:
    """Return every text in a payload that is sent to a model."""
    if isinstance(payload, str):
        return [payload]
    if isinstance(payload, dict):
        values = [value for key, value in payload.items() if key not in UNSENT_KEYS and key not in BLOCK_TYPE_KEYS]
    elif isinstance(payload, (list, tuple)):
        values = list(payload)
    else:
        return []
    texts: list[str] = []
    for value in values:
        if isinstance(value, str):  # most are, and a call for each would cost time
            texts.append(value)
        else:
            texts += list_texts(value)
    return texts


def _walk(payload: Any, keys: Collection[str] | None, *, decode: bool = False) -> Iterator[Any]:
    """Yield a payload and, depth first, the values under some keys; None stands for every key."""
    if decode:
        payload = decode_payload(payload)
    yield payload
    if not isinstance(payload, dict):
        return
    walked_keys = payload if keys is None else keys
    for key in walked_keys:
        value = payload.get(key)
        if value is not None:
            yield from _walk(value, keys, decode=decode)
