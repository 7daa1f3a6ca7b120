r"""Turn the plain-text formulas of the docstrings into LaTeX, so that a terminal and the site both read well.

    NDCG@k = DCG@k / IDCG@k     becomes     \text{NDCG@}k = \frac{\text{DCG@}k}{\text{IDCG@}k}

A formula is one line of names, numbers, operators, brackets, `sum over ... of`, `product over ... of`,
`max over ... of`, `argmax over ... of`, and words such as `if` and `else`.
"""

import re
from collections.abc import Iterator

TOKEN = re.compile(
    r"(?P<gap>,\s\s+)|(?P<space>\s+)|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<name>[A-Za-z]+(?:-[A-Za-z]{2,})*(?:_[A-Za-z0-9]+)*(?:\d+(?=[@(]))?(?:@k)?)"
    r"|(?P<symbol><=|>=|!=|[-+*/^=<>,.:;(){}\[\]|])"
)
GREEK = {"alpha", "beta", "gamma", "lambda", "mu", "sigma", "pi", "rho", "tau"}
OPERATORS = {
    "sum": r"\sum",
    "product": r"\prod",
    "max": r"\max",
    "min": r"\min",
    "argmax": r"\text{argmax}",
    "argmin": r"\text{argmin}",
}
SYMBOLS = {"<=": r"\le", ">=": r"\ge", "!=": r"\ne", "*": r"\cdot"}
FACTOR = re.compile(r"\d+|[A-Za-z](?:_\{\w+\})?")
CLOSING = {"(": ")", "[": "]", "{": "}", "|": "|"}
BRACKETS = {"{": r"\{", "}": r"\}"}


def latex(formula: str) -> str:
    """Return the LaTeX of a formula.

    Raises:
        ValueError: If something in it is neither name, number, operator nor bracket, or a bracket has no
            counterpart.
    """
    return _Parser(formula).until(set()).replace(r" } \text{ ", " ")  # words that follow each other are one text


class _Parser:
    def __init__(self, formula: str) -> None:
        self.formula = formula
        self.tokens = list(_tokens(formula.strip()))

    def until(self, ends: set[str]) -> str:
        """Return the LaTeX of everything up to one of the given tokens, which stays."""
        parts: list[str] = []
        while self.tokens and self.tokens[0] not in ends:
            part = self.operand(ends)
            while self.tokens[:1] == ["/"]:
                self.tokens.pop(0)
                while parts and FACTOR.fullmatch(parts[-1]):  # 2 P R / S has all three above the bar
                    part = f"{parts.pop()} {part}"
                part = rf"\frac{{{_bare(part)}}}{{{_bare(self.operand(ends))}}}"
            parts.append(part)
        return " ".join(parts)

    def operand(self, ends: set[str]) -> str:
        token = self.tokens.pop(0)
        if token in {")", "]", "}"}:
            raise ValueError(f"the formula {self.formula!r} has {token!r} without its opening bracket")
        if token in CLOSING and token not in ends:
            result = self.bracket(token)
        elif token in OPERATORS and self.tokens[:1] == ["over"]:
            self.tokens.pop(0)
            below = self.until({"of"})
            self.require("of")
            if token.startswith("arg"):  # the converter to MathML knows no other way to set something below a name
                return rf"\underset{{{below}}}{{{OPERATORS[token]}}} \;"
            return rf"{OPERATORS[token]}_{{{below}}}"
        elif token[0].isalpha() and len(token) > 1 and self.tokens and self.tokens[0] in {"(", "{"}:
            result = rf"{_function(token)}{self.bracket(self.tokens.pop(0))}"
        else:
            result = _word(token)
        if self.tokens[:1] == ["^"]:
            self.tokens.pop(0)
            return rf"{result}^{{{_bare(self.operand(ends))}}}"
        return result

    def bracket(self, opening: str) -> str:
        inner = self.until({CLOSING[opening]})
        self.require(CLOSING[opening])
        return " ".join(BRACKETS.get(sign, sign) for sign in (opening, inner, CLOSING[opening]))

    def require(self, token: str) -> None:
        if not self.tokens:
            raise ValueError(f"the formula {self.formula!r} lacks {token!r}")
        self.tokens.pop(0)


def _tokens(text: str) -> Iterator[str]:
    position = 0
    while position < len(text):
        match = TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"the formula {text!r} cannot be read from {text[position:]!r} on")
        position = match.end()
        if match.lastgroup == "gap":
            yield r",\quad"
        elif match.lastgroup != "space":
            yield match[0]


def _function(name: str) -> str:
    if name == "log2":
        return r"\log_{2}"
    return {"min": r"\min", "max": r"\max", "cos": r"\cos"}.get(name, rf"\operatorname{{{name}}}")


def _word(token: str) -> str:
    name = token.removesuffix("@k")
    at_k = token.endswith("@k")
    base, _, below = name.partition("_")
    if at_k:
        return rf"\text{{{name}@}}k"
    if base in GREEK:
        base = rf"\{base}"
    elif len(base) > 1 and base[0].isalpha():
        return rf"\text{{ {name} }}"
    return rf"{base}_{{{below}}}" if below else SYMBOLS.get(base, base)


def _bare(part: str) -> str:
    """Drop the brackets around the whole of a part: a fraction bar and an exponent need none."""
    if not (part.startswith("( ") and part.endswith(" )")):
        return part
    depth = 0
    for position, sign in enumerate(part):
        depth += (sign == "(") - (sign == ")")
        if not depth and position < len(part) - 1:
            return part
    return part[2:-2]
