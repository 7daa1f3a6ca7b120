"""Questions on tuples, ranges, dicts, sets, strings and their formats."""

from questions.question import Anchor, Question

QUESTIONS = (
    Question(
        "tuple-of-one",
        "(5) is just a number. How do I write a tuple holding only that?",
        answers=(
            Anchor(3, "Using a trailing comma for a singleton tuple"),
            Anchor(3, "can be formed by affixing a comma to an expression"),
            Anchor(3, "trailing comma is required only to create a"),
            Anchor(2, "Note that it is actually the comma which makes a tuple, not the parentheses"),
        ),
    ),
    Question(
        "list-inside-tuple",
        "A tuple cannot change, but I could append to a list inside of one. How does that fit?",
        answers=(
            Anchor(3, "because the collection of objects it contains cannot be changed"),
            Anchor(3, "contains a reference to a mutable object, its value changes if that mutable object is changed"),
            Anchor(3, "these other objects may be mutable and may be changed"),
        ),
    ),
    Question(
        "huge-range",
        "Does range(10 ** 12) eat up my memory?",
        answers=(Anchor(3, "will always take the same (small) amount of memory"),),
    ),
    Question(
        "dict-order",
        "Can I count on a dict handing out its entries in the order I put them in?",
        answers=(
            Anchor(3, "Dictionaries preserve insertion order, meaning that keys will be produced"),
            Anchor(3, "Dictionaries preserve insertion order. Note that updating a key does not affect the order"),
            Anchor(2, "Dictionary order is guaranteed to be insertion order."),
            Anchor(2, "Keys and values are iterated over in insertion order."),
            Anchor(2, "keys and values are iterated over in the same order (insertion order)"),
        ),
    ),
    Question(
        "dict-with-automatic-values",
        "I need a dict that makes up a value whenever a key is not there yet.",
        answers=(
            Anchor(3, "If a subclass of dict defines a method"),
            Anchor(3, "for dict subclasses when key is not in the dictionary"),
            Anchor(2, "is in the dictionary, return its value. If not, insert"),
            Anchor(1, "so that this method never raises a"),
            Anchor(2, 'method is used by "collections.defaultdict"'),
        ),
    ),
    Question(
        "merge-two-dicts",
        "Combine two settings dicts into a third one; the second should win.",
        answers=(
            Anchor(3, "Create a new dictionary with the merged keys and values"),
            Anchor(3, "Later values replace values already set by earlier"),
            Anchor(1, "Update the dictionary with the key/value pairs from"),
            Anchor(1, "the value from the keyword argument replaces the value from the positional argument"),
        ),
    ),
    Question(
        "delete-while-looping",
        "RuntimeError when I throw entries out of a dict while going through it.",
        answers=(Anchor(3, "Iterating views while adding or deleting entries in the dictionary may raise"),),
    ),
    Question(
        "one-and-true-same-key",
        "Why do the keys 1, 1.0 and True overwrite each other in a dictionary?",
        answers=(Anchor(3, "can be used interchangeably to index the same dictionary entry"),),
    ),
    Question(
        "fromkeys-shares-list",
        "dict.fromkeys('abc', []) and then every key shows the same growing list.",
        answers=(Anchor(3, "All of the values refer to just a single instance"),),
    ),
    Question(
        "set-as-dict-key",
        "May a set be a key of a dict? And what is it that a key must not be?",
        parts=(
            (Anchor(3, "it can be used again as an element of another set, or as a dictionary key"),),
            (
                Anchor(
                    3, "The only types of values not acceptable as keys are values containing lists or dictionaries"
                ),
                Anchor(3, "keys are *almost* arbitrary values"),
                Anchor(3, "which excludes all mutable objects"),
            ),
        ),
    ),
    Question(
        "set-order-changes",
        "Why does the order of my set of strings change each time I start Python?",
        answers=(
            Anchor(3, "they are not predictable between repeated invocations of Python"),
            Anchor(1, "These represent unordered, finite sets of unique, immutable objects"),
        ),
    ),
    Question(
        "text-in-text",
        "How do I check that one string contains another?",
        answers=(
            Anchor(3, "if and only if *x* is a substring of *y*"),
            Anchor(3, "is a substring or not, use the"),
            Anchor(2, "also use them for subsequence testing"),
        ),
    ),
    Question(
        "lstrip-eats-too-much",
        "'www.example.com'.lstrip('www.e') cut away more than the beginning I named.",
        answers=(
            Anchor(3, "argument is not a prefix; rather, all combinations of its values are stripped"),
            Anchor(3, "for a method that will remove a single prefix string rather than all of a set of characters"),
            Anchor(2, "If the string starts with the *prefix* string, return"),
            Anchor(2, "argument is not a prefix or suffix; rather, all combinations of its values are stripped"),
            Anchor(1, "argument is not a suffix; rather, all combinations of its values are stripped"),
        ),
    ),
    Question(
        "empty-pieces-after-split",
        "'a  b'.split(' ') leaves empty pieces between the words. How do I avoid that?",
        answers=(
            Anchor(3, "runs of consecutive whitespace are regarded as a single separator"),
            Anchor(2, "consecutive delimiters are not grouped together and are deemed to delimit empty strings"),
        ),
    ),
    Question(
        "ignore-case",
        "Compare two strings without regard to upper and lower case, German sharp s included.",
        answers=(
            Anchor(3, "Casefolded strings may be used for caseless matching"),
            Anchor(1, "Return a copy of the string with all the cased characters [4] converted to lowercase"),
            Anchor(1, "with all the cased characters [4] converted to uppercase"),
        ),
    ),
    Question(
        "leading-zeros",
        "Print 42 as 00042.",
        answers=(
            Anchor(3, "Return a copy of the string left filled with"),
            Anchor(3, "is a decimal integer defining the minimum total field width"),
        ),
    ),
    Question(
        "group-digits",
        "Show big numbers like 1234567 with a separator for the thousands.",
        answers=(
            Anchor(3, "'{:,}'.format(1234567890)"),
            Anchor(3, "For a locale aware separator, use the"),
        ),
    ),
    Question(
        "show-as-percentage",
        "Turn 0.8636 into 86.36% for a report.",
        answers=(
            Anchor(3, "Correct answers: {:.2%}"),
            Anchor(3, "Percentage. Multiplies the number by 100 and displays in"),
        ),
    ),
    Question(
        "centre-with-stars",
        "Put a headline in the middle of 30 columns and fill both sides with asterisks.",
        answers=(
            Anchor(3, "use '*' as a fill char"),
            Anchor(3, "Return centered in a string of length"),
            Anchor(2, "it can be preceded by a *fill* character that can be any character"),
            Anchor(1, "Forces the field to be centered within the available"),
        ),
    ),
    Question(
        "literal-brace",
        "How do I get a curly bracket into the output of str.format?",
        answers=(
            Anchor(3, "If you need to include a brace character in the literal text"),
            Anchor(1, "it is possible to insert a curly brace with a nested replacement field"),
        ),
    ),
    Question(
        "width-from-variable",
        "The column width is only known at run time. Can a format take it from a variable?",
        answers=(
            Anchor(3, "field can also include nested replacement fields within it"),
            Anchor(2, "Nesting arguments and more complex examples"),
        ),
    ),
    Question(
        "binary-output",
        "Print 10 as 1010 or as hex digits, with or without the 0x in front.",
        answers=(
            Anchor(3, "format also supports binary numbers"),
            Anchor(2, "Binary format. Outputs the number in base 2."),
            Anchor(2, "when binary, octal, or hexadecimal output is used"),
            Anchor(1, "for base in 'dXob'"),
        ),
    ),
    Question(
        "raw-string-backslash-end",
        "r'C:\\temp\\' is a syntax error, although backslashes should mean nothing there.",
        answers=(Anchor(3, "a raw literal cannot end in a single backslash"),),
    ),
)
