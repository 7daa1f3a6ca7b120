"""Questions on functions, generators and coroutines, and on where a name is looked up."""

from questions.question import Anchor, Question

QUESTIONS = (
    Question(
        "list-remembered-between-calls",
        "Why does my function still have the items of the previous call in its list parameter?",
        answers=(
            Anchor(3, "This is especially important to understand when a default parameter value is a mutable object"),
            Anchor(
                3, "a mutable object such as a list or dictionary used as default value will be shared by all calls"
            ),
        ),
    ),
    Question(
        "must-name-argument",
        "How can I force callers to pass an argument by its name?",
        answers=(Anchor(3, "parameters and may only be passed by keyword arguments"),),
    ),
    Question(
        "spread-list-and-dict-into-call",
        "I have the arguments in a list and the named ones in a dict. How do I hand both to a function?",
        parts=(
            (
                Anchor(3, "Elements from these iterables are treated as if they were additional positional arguments"),
                Anchor(1, "Function calls accept any number of"),
            ),
            (
                Anchor(3, "the contents of which are treated as additional keyword arguments"),
                Anchor(1, "Function calls accept any number of"),
            ),
        ),
    ),
    Question(
        "two-decorators",
        "If I put two decorators on a function, which one is applied first?",
        answers=(
            Anchor(3, "Multiple decorators are applied in nested fashion"),
            Anchor(2, "Classes can also be decorated: just like when decorating functions"),
        ),
    ),
    Question(
        "lambda-limits",
        "Can a lambda hold an assignment or a loop?",
        answers=(
            Anchor(3, "functions created with lambda expressions cannot contain statements or annotations"),
            Anchor(2, "is actually more powerful since it allows the execution of multiple statements"),
        ),
    ),
    Question(
        "what-makes-a-generator",
        "I call my function but its body does not run, I only get some object back. It has a yield in it.",
        answers=(
            Anchor(3, "Such a function, when called, always returns an *iterator* object"),
            Anchor(3, "is sufficient to cause that definition to create a"),
        ),
    ),
    Question(
        "generator-return-value",
        "Where does the value end up that a generator gives back with return?",
        answers=(
            Anchor(3, 'is used as an argument to construct "StopIteration"'),
            Anchor(1, "the iterator will have reached the end of the set of values to be returned"),
        ),
    ),
    Question(
        "await-in-plain-function",
        "SyntaxError when I wait for a coroutine inside an ordinary def. Where is that allowed?",
        answers=(
            Anchor(3, 'and "async with" can only be used in the body of a coroutine function'),
            Anchor(3, "Suspend the execution of *coroutine* on an *awaitable* object"),
            Anchor(1, 'It is a "SyntaxError" to use an "async for" statement outside the body of a coroutine function'),
            Anchor(
                1, 'It is a "SyntaxError" to use an "async with" statement outside the body of a coroutine function'
            ),
            Anchor(2, 'It may contain "await" expressions'),
        ),
    ),
    Question(
        "counter-in-closure",
        "How can an inner function increase a counter that lives in the function around it?",
        answers=(
            Anchor(3, "allows encapsulated code to rebind"),
            Anchor(3, "statement causes corresponding names to refer to previously bound variables in the nearest"),
            Anchor(1, "Free variables used in the nested function can access the local variables"),
            Anchor(1, "If a name is bound in a block, it is a local variable of that block"),
            Anchor(1, 'or the outer namespace determined by "nonlocal"'),
        ),
    ),
    Question(
        "referenced-before-assignment",
        "I print a variable, set it a few lines below, and Python says it has no value although a global exists.",
        answers=(
            Anchor(3, "all uses of the name within the block are treated as references to the current block"),
            Anchor(2, "the name refers to a local variable that has not yet been bound to a value at the point"),
            Anchor(1, "If a name is bound in a block, it is a local variable of that block"),
            Anchor(2, "It would be impossible to assign to a global variable without"),
        ),
    ),
    Question(
        "generator-in-class-body",
        "Inside a class, list(x + y for x in ...) cannot find y although y is defined one line above. Why?",
        answers=(
            Anchor(3, "The scope of names defined in a class block is limited to the class block"),
            Anchor(1, "methods defined inside the class still cannot see names defined at the class scope"),
        ),
    ),
    Question(
        "eval-and-enclosing-function",
        "Can eval see the variables of the function around the one that calls it?",
        answers=(
            Anchor(3, "Free variables are not resolved in the nearest enclosing namespace, but in the global"),
            Anchor(1, "are special in the context of name resolution"),
        ),
    ),
    Question(
        "del-object-or-name",
        "Does del get rid of the thing itself or only of the variable?",
        answers=(
            Anchor(3, "Deletion of a name removes the binding of that name"),
            Anchor(3, "the former decrements the reference count for"),
            Anchor(2, "Objects are never explicitly destroyed"),
            Anchor(2, "though the actual semantics are to unbind the name"),
        ),
    ),
)
