"""Questions on numbers, operators, comparison, truth, assignment and lists."""

from questions.question import Anchor, Question

QUESTIONS = (
    Question(
        "whole-number-division",
        "Dividing 7 by 2 gives me a float. How do I get an integer, and which way is it rounded?",
        answers=(
            Anchor(3, "Division of integers yields a float, while floor division of integers results in an integer"),
            Anchor(1, "The floor division and modulo operators are connected by the following identity"),
        ),
    ),
    Question(
        "sign-of-remainder",
        "Why is -7 % 3 equal to 2? Which sign does modulo give?",
        answers=(
            Anchor(3, "operator always yields a result with the same sign as its second operand"),
            Anchor(2, "returns a result whose sign matches the sign of the first argument instead"),
            Anchor(1, "The floor division and modulo operators are connected by the following identity"),
        ),
    ),
    Question(
        "minus-one-squared",
        "-1 ** 2 gives -1 instead of 1. Is that a bug?",
        answers=(
            Anchor(3, "The power operator binds more tightly than unary operators on its left"),
            Anchor(1, "The following table summarizes the operator precedence in Python"),
            Anchor(2, '| "+x", "-x", "~x" | Positive, negative, bitwise NOT |'),
            Anchor(2, "is actually an expression composed of the unary operator"),
            Anchor(1, "binds less tightly than an arithmetic or bitwise unary operator on its right"),
        ),
    ),
    Question(
        "negative-exponent",
        "What type is 10 to the power of -2 if both are ints?",
        answers=(Anchor(3, "unless the second argument is negative; in that case"),),
    ),
    Question(
        "mixed-arithmetic",
        "What comes out when I add an int and a float, or a float and a complex?",
        answers=(
            Anchor(3, "otherwise, both must be integers and no conversion is necessary"),
            Anchor(1, "Division of integers yields a float, while floor division of integers results in an integer"),
        ),
    ),
    Question(
        "tilde",
        "Why does ~5 print -6?",
        answers=(
            Anchor(3, "operator yields the bitwise inversion of its integer argument"),
            Anchor(1, "binary representation is assumed, and negative numbers are represented in a variant of"),
        ),
    ),
    Question(
        "not-and-in-precedence",
        "Which has the higher precedence in not x in items, not or in?",
        answers=(
            Anchor(3, '| "not x" | Boolean NOT |'),
            Anchor(3, "is defined to have the inverse truth value of"),
            Anchor(2, "The following table summarizes the operator precedence in Python"),
            Anchor(1, "operations have the same priorities as the comparison operations"),
        ),
    ),
    Question(
        "function-called-once-in-range-test",
        "In a chained comparison like 0 < f() < 10, is f called once or twice?",
        answers=(
            Anchor(3, "Comparisons can be chained arbitrarily"),
            Anchor(3, "except that each expression is evaluated at most once"),
            Anchor(1, "Note that comparisons, membership tests, and identity tests, all have the same precedence"),
        ),
    ),
    Question(
        "nan-differs-from-itself",
        "float('nan') == float('nan') is False. Is that intended?",
        answers=(
            Anchor(3, "values are not equal to themselves"),
            Anchor(1, "Python does not enforce these consistency rules"),
        ),
    ),
    Question(
        "test-for-none",
        "Should I test for None with == or in another way?",
        answers=(
            Anchor(3, "advises that comparisons for singletons should always be done with"),
            Anchor(1, '"x is y" is true if and only if *x* and *y* are the same object'),
        ),
    ),
    Question(
        "same-number-same-object",
        "a = 1; b = 1 seem to be the same object, two empty lists never are. Can I rely on it?",
        answers=(
            Anchor(3, "are guaranteed to refer to two different, unique, newly created empty lists"),
            Anchor(2, "may obtain the same object or a different object with the same value"),
            Anchor(1, 'you may notice seemingly unusual behaviour in certain uses of the "is" operator'),
        ),
    ),
    Question(
        "what-counts-as-false",
        "Which values count as false in the condition of an if?",
        answers=(
            Anchor(3, "an object is considered true unless its class defines either"),
            Anchor(3, "the following values are interpreted as false"),
            Anchor(1, "Its truth value is false"),
            Anchor(1, "all its instances are considered true"),
            Anchor(1, "is considered to be false in a Boolean context"),
        ),
    ),
    Question(
        "fallback-for-empty-string",
        "Short way to take another value when a text is empty?",
        answers=(
            Anchor(3, "string that should be replaced by a default value if it is empty"),
            Anchor(2, "is true, its value is returned; otherwise, *y* is evaluated"),
            Anchor(1, "always return one of their operands"),
        ),
    ),
    Question(
        "plus-equals-and-aliases",
        "If two variables hold the same list, does += modify the object that both refer to or create a new one?",
        answers=(
            Anchor(3, "rather than creating a new object and assigning that to the target, the old object is modified"),
            Anchor(2, "methods are called to implement the augmented arithmetic assignments"),
            Anchor(2, "extends *s* with the contents of"),
        ),
    ),
    Question(
        "head-and-rest",
        "Put the first element into one variable and everything after it into another.",
        answers=(
            Anchor(3, "A list of the remaining items in the iterable is then assigned to the starred target"),
            Anchor(1, "Extended Iterable Unpacking"),
        ),
    ),
    Question(
        "order-of-assignment-targets",
        "Are the targets in i, x[i] = 1, 2 assigned all at once or one after the other?",
        answers=(
            Anchor(3, "i is updated, then x[i] is updated"),
            Anchor(2, "assigned, from left to right, to the corresponding targets"),
            Anchor(1, "to each of the target lists, from left to right"),
        ),
    ),
    Question(
        "slice-past-the-end",
        "Why does a slice beyond the end of a list, as in [1, 2, 3][1:100], not fail?",
        answers=(
            Anchor(3, "is defined as the sequence of items with index *k* such that"),
            Anchor(2, "indices are handled in a manner consistent with regular slices"),
            Anchor(2, 'are reduced to "len(s)" if they are greater'),
        ),
    ),
    Question(
        "rows-change-together",
        "I made nested lists with [[0] * 3] * 3 and modifying one row changes them all.",
        answers=(
            Anchor(3, "What has happened is that"),
            Anchor(1, "they are referenced multiple times, as explained for"),
        ),
    ),
    Question(
        "slow-text-building",
        "Concatenating thousands of strings with + in a loop is slow. What is faster?",
        answers=(
            Anchor(3, "building up a sequence by repeated concatenation will have a quadratic runtime cost"),
            Anchor(2, "Return a string which is the concatenation of the strings in"),
        ),
    ),
    Question(
        "sort-gives-none",
        "names = names.sort() leaves None in names. Where is my list?",
        answers=(
            Anchor(3, "To remind users that it operates by side effect, it does not return the sorted sequence"),
            Anchor(1, "This method sorts the list in place, using only"),
        ),
    ),
    Question(
        "sort-by-two-criteria",
        "Sort people by salary but leave those with the same salary in the order they were in.",
        answers=(
            Anchor(3, "A sort is stable if it guarantees not to change the relative order of elements"),
            Anchor(1, "specifies a function of one argument that is used to extract a comparison key"),
        ),
    ),
)
