"""Questions on special methods: operators, comparison and hashing, containers, calls, life time."""

from questions.question import Anchor, Question

QUESTIONS = (
    Question(
        "len-set-on-one-object",
        "obj.__len__ = lambda: 5 is accepted, yet len(obj) fails. Why is my method ignored?",
        answers=(
            Anchor(3, "implicit invocations of special methods are only guaranteed to work correctly"),
            Anchor(3, "the special method *must* be set on the class object itself"),
            Anchor(2, "implicit special method lookup generally also bypasses the"),
        ),
    ),
    Question(
        "destructor-comes-late",
        "I del my object, but its cleanup method runs much later or not at all.",
        answers=(
            Anchor(3, "the former decrements the reference count for"),
            Anchor(2, "It is possible for a reference cycle to prevent the reference count"),
            Anchor(2, "Do not depend on immediate finalization of objects when they become unreachable"),
            Anchor(1, "An implementation is allowed to postpone garbage collection or omit it altogether"),
            Anchor(1, "Deletion of a name removes the binding of that name"),
        ),
    ),
    Question(
        "close-files-myself",
        "Do I have to close files on my own if the object goes away anyway, and what does it for me?",
        parts=(
            (
                Anchor(3, "so you should always close files explicitly"),
                Anchor(3, "Programs are strongly recommended to explicitly close such objects"),
            ),
            (
                Anchor(3, "statement provide convenient ways to do this"),
                Anchor(2, "locking and unlocking resources, closing opened files"),
                Anchor(1, "usage patterns to be encapsulated for convenient reuse"),
            ),
        ),
    ),
    Question(
        "print-and-console",
        "Which special method decides what print shows, and which one what the console echoes for debugging?",
        parts=(
            (Anchor(3, "a more convenient or concise representation can be used"),),
            (Anchor(3, "this should look like a valid Python expression that could be used to recreate an object"),),
        ),
    ),
    Question(
        "unhashable-after-eq",
        "Since I wrote __eq__, my objects can no longer go into a set.",
        answers=(
            Anchor(3, '"__hash__()" implicitly set to "None"'),
            Anchor(2, "needs to retain the implementation of"),
            Anchor(2, "The only required property is that objects which compare equal have the same hash value"),
            Anchor(1, "Objects that are equal should either have the same hash value, or be marked as unhashable"),
            Anchor(1, "for some important notes on creating *hashable* objects"),
        ),
    ),
    Question(
        "equal-objects-as-one-key",
        "Two instances with the same fields should be equal and count as one key of a dict. What do I define?",
        parts=(
            (
                Anchor(3, '"x==y" calls "x.__eq__(y)"'),
                Anchor(2, 'By default, "object" implements "__eq__()" by using "is"'),
                Anchor(1, "Such types will need to customize their comparison behavior"),
            ),
            (
                Anchor(3, "The only required property is that objects which compare equal have the same hash value"),
                Anchor(2, "its instances will not be usable as items in hashable collections"),
                Anchor(1, "Objects that are equal should either have the same hash value, or be marked as unhashable"),
            ),
        ),
    ),
    Question(
        "all-comparisons-from-one",
        "I only want to define less-than and get the other comparison operators for free.",
        answers=(
            Anchor(3, "To automatically generate ordering operations from a single root operation"),
            Anchor(2, 'See also the "total_ordering()" decorator'),
            Anchor(1, "The correspondence between operator symbols and method names is as follows"),
        ),
    ),
    Question(
        "operand-i-do-not-know",
        "What should __lt__ and __add__ return for an operand of a type they cannot handle?",
        parts=(
            (
                Anchor(3, "Numeric methods and rich comparison methods should return this value"),
                Anchor(3, "if it does not implement the operation for a given pair of arguments"),
            ),
            (
                Anchor(3, "Numeric methods and rich comparison methods should return this value"),
                Anchor(3, "does not support the operation with the supplied arguments, it should return"),
            ),
        ),
    ),
    Question(
        "number-on-the-left",
        "vector * 3 works but 3 * vector is a TypeError.",
        answers=(
            Anchor(3, "with reflected (swapped) operands"),
            Anchor(2, "provides a different implementation of the reflected method for the operation"),
            Anchor(2, 'customized using the special "__mul__()" and "__rmul__()" methods'),
            Anchor(1, "The interpreter will then try the reflected operation, or some other fallback"),
        ),
    ),
    Question(
        "plus-and-plus-equals",
        "My class should support a + b and, without making a copy, a += b.",
        parts=(
            (
                Anchor(3, "methods are called to implement the binary arithmetic operations ("),
                Anchor(2, 'customized using the special "__add__()" and "__radd__()" methods'),
            ),
            (
                Anchor(3, "methods are called to implement the augmented arithmetic assignments"),
                Anchor(
                    1, "rather than creating a new object and assigning that to the target, the old object is modified"
                ),
            ),
        ),
    ),
    Question(
        "falsy-instances",
        "How can an if treat my object as false while it holds nothing?",
        answers=(
            Anchor(3, "Called to implement truth value testing and the built"),
            Anchor(3, "an object is considered true unless its class defines either"),
            Anchor(3, "is considered to be false in a Boolean context"),
            Anchor(2, "User-defined objects can customize their truth value by providing a"),
        ),
    ),
    Question(
        "own-container",
        "I am writing a container of my own: how do I support the in operator and asking for its size?",
        parts=(
            (
                Anchor(3, "Called to implement membership test operators"),
                Anchor(3, 'For user-defined classes which define the "__contains__()" method'),
                Anchor(2, "Lastly, the old"),
                Anchor(1, 'to allow efficient use of the "in" operator'),
            ),
            (Anchor(3, "Should return the length of the object, an integer"),),
        ),
    ),
    Question(
        "own-class-in-for-loop",
        "What must my class provide to be usable in a for loop?",
        answers=(
            Anchor(3, "This method is called when an *iterator* is required for a container"),
            Anchor(2, 'loops expect that an "IndexError" will be raised for illegal indexes'),
            Anchor(1, "to allow efficient iteration through the container"),
            Anchor(1, "An *iterator* is created for that iterable"),
        ),
    ),
    Question(
        "last-item-of-own-sequence",
        "What does index -1 mean, and do I get it for free in my own sequence class?",
        parts=(
            (
                Anchor(3, "negative indices by adding the length of the sequence"),
                Anchor(3, "the index is relative to the end of sequence"),
                Anchor(2, "the subscript must yield an integer. If it is negative, the sequence"),
            ),
            (
                Anchor(3, "will need to explicitly add that support"),
                Anchor(2, "(after any special interpretation of negative values)"),
            ),
        ),
    ),
    Question(
        "call-an-instance",
        "Can I call an instance of my class like a function?",
        answers=(
            Anchor(3, 'if this method is defined, "x(arg1, arg2, ...)" roughly translates to'),
            Anchor(3, "Instances of arbitrary classes can be made callable by defining a"),
            Anchor(2, "the effect is then the same as if that method was called"),
            Anchor(2, 'all objects having a "__call__()" method are callable'),
        ),
    ),
)
