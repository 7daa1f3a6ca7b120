"""Questions on statements: with, try, raise, match, loops, imports, and the debugger."""

from questions.question import Anchor, Question

QUESTIONS = (
    Question(
        "swallow-error-in-with",
        "Can the object I use in a with statement swallow an exception, so that the program carries on after it?",
        answers=(
            Anchor(3, "If an exception is supplied, and the method wishes to suppress the exception"),
            Anchor(3, "If the return value was true, the exception is suppressed"),
            Anchor(2, "if not exit(manager, *sys.exc_info())"),
        ),
    ),
    Question(
        "with-failing-target",
        "Does a with statement still clean up if assigning to the variable behind 'as' fails?",
        answers=(
            Anchor(3, "if an error occurs during the assignment to the target list"),
            Anchor(2, "if not exit(manager, *sys.exc_info())"),
        ),
    ),
    Question(
        "open-two-files",
        "How do I open two files in a single with statement and spread that over several lines?",
        answers=(
            Anchor(3, "You can also write multi-item context managers in multiple lines"),
            Anchor(2, "With more than one item, the context managers are processed as if"),
        ),
    ),
    Question(
        "error-variable-gone",
        "NameError for the variable from 'except ... as e' when I print it further down. Where did it go?",
        answers=(
            Anchor(3, "This means the exception must be assigned to a different name to be able to refer to it"),
            Anchor(3, 'it is cleared at the end of the "except" clause'),
        ),
    ),
    Question(
        "finally-overrides-return",
        "Which value does the caller get when both the try and its cleanup part hand one back?",
        answers=(
            Anchor(3, 'The return value of a function is determined by the last "return" statement executed.'),
            Anchor(2, "statement, the saved exception is discarded"),
            Anchor(1, 'When "return" passes control out of a "try" statement with a "finally" clause'),
        ),
    ),
    Question(
        "finally-when-leaving-loop",
        "Is cleanup code skipped when I jump out of a loop from the middle of a try?",
        answers=(
            Anchor(3, 'When a "return", "break" or "continue" statement is executed in the "try" suite'),
            Anchor(3, 'When "break" passes control out of a "try" statement with a "finally" clause'),
            Anchor(2, 'When "continue" passes control out of a "try" statement with a "finally" clause'),
            Anchor(1, 'When "return" passes control out of a "try" statement with a "finally" clause'),
            Anchor(1, "is executed whether an exception occurred or not in the preceding code"),
        ),
    ),
    Question(
        "try-else",
        "When does the else behind the handlers of a try run, and are errors raised there caught?",
        answers=(Anchor(3, 'Exceptions in the "else" clause are not handled by the preceding "except" clauses.'),),
    ),
    Question(
        "keep-original-error",
        "How do I raise my own exception without losing the one that caused it?",
        answers=(
            Anchor(3, "is used for exception chaining: if given, the second"),
            Anchor(3, "A similar mechanism works implicitly"),
        ),
    ),
    Question(
        "hide-first-traceback",
        "My users see two tracebacks, 'during handling ... another exception occurred'. How do I show only mine?",
        answers=(
            Anchor(3, "Exception chaining can be explicitly suppressed by specifying"),
            Anchor(1, "During handling of the above exception, another exception occurred"),
        ),
    ),
    Question(
        "log-and-rethrow",
        "I want to log an exception in the handler and then raise the same one again.",
        answers=(
            Anchor(3, "the exception that is currently being handled, which is also known as the"),
            Anchor(1, "If the traceback of the active exception is modified in an"),
        ),
    ),
    Question(
        "several-errors-at-once",
        "How do I handle only the exceptions of one type when several tasks failed and their errors come bundled?",
        answers=(
            Anchor(3, "in the case of exception groups we can have partial matches"),
            Anchor(2, "If the raised exception is not an exception group and its type matches one of the"),
            Anchor(1, '"except" and "except*" in the same "try"'),
        ),
    ),
    Question(
        "locals-kept-alive",
        "Why are big local variables not freed after I caught an error and stored it?",
        answers=(
            Anchor(3, "they form a reference cycle with the stack frame, keeping all locals in that frame alive"),
            Anchor(3, "A common cause of reference cycles is when an exception has been caught in a local variable"),
            Anchor(2, "This helps break reference cycles involving frame objects"),
            Anchor(1, "statement may keep objects alive"),
        ),
    ),
    Question(
        "asserts-in-production",
        "Do assert statements still check anything when Python runs with -O?",
        answers=(Anchor(3, "when optimization is requested at compile time"),),
    ),
    Question(
        "match-against-constant",
        "My case compares with a name but always succeeds and overwrites it. How do I compare with a constant?",
        answers=(
            Anchor(3, "The dotted name in the pattern is looked up using standard Python name resolution rules"),
            Anchor(2, "A capture pattern binds the subject value to a name"),
            Anchor(1, "A literal pattern corresponds to most literals in Python"),
        ),
    ),
    Question(
        "match-default-branch",
        "What is the equivalent of a default branch in a match statement?",
        answers=(
            Anchor(3, "A wildcard pattern always succeeds (matches anything) and binds no name"),
            Anchor(3, "A match statement may have at most one irrefutable case block, and it must be last"),
            Anchor(2, "Case 4, I match anything!"),
            Anchor(1, "soft keyword that denotes a wildcard"),
        ),
    ),
    Question(
        "match-extra-condition",
        "Can a case also demand that some expression holds, besides the shape?",
        answers=(
            Anchor(3, 'must succeed for code inside the "case" block to execute'),
            Anchor(3, "the corresponding guard (if present) is evaluated"),
            Anchor(1, "Guards are allowed to have side effects"),
        ),
    ),
    Question(
        "match-own-class",
        "case Point(1, 2) raises a TypeError for a class I wrote. What does the class lack?",
        answers=(
            Anchor(3, "the class needs to define a *__match_args__* attribute"),
            Anchor(2, 'they are converted to keyword patterns using the "__match_args__" attribute'),
            Anchor(2, 'is equivalent to "case MyClass(left=x, center=y)"'),
            Anchor(1, 'convert "P1" to a keyword pattern using "CLS.__match_args__"'),
            Anchor(1, 'is converted to a keyword pattern using "__match_args__[i]"'),
        ),
    ),
    Question(
        "match-two-letter-string",
        "Does the pattern [a, b] match a string of two letters?",
        answers=(
            Anchor(3, 'is an instance of "str", "bytes" or "bytearray" the sequence pattern fails'),
            Anchor(3, 'Subject values of type "str", "bytes", and "bytearray" do not match sequence patterns'),
        ),
    ),
    Question(
        "loop-else",
        "What is an else behind a loop good for, and when is it left out?",
        answers=(
            Anchor(3, "When the iterator is exhausted, the suite in the"),
            Anchor(3, "if the expression is false (which may be the first time it is tested)"),
            Anchor(2, 'skipping the optional "else" clause if the loop has one'),
        ),
    ),
    Question(
        "assign-to-loop-variable",
        "I set the counter to a bigger number inside the loop to skip ahead, but nothing is skipped.",
        answers=(Anchor(3, "This overwrites all previous assignments to those variables"),),
    ),
    Question(
        "star-import",
        "Which names does a star import bring in, and how can the author of the module decide on them?",
        answers=(
            Anchor(3, "are determined by checking the module"),
            Anchor(2, "binds all names defined in the imported module, except those beginning with an underscore"),
            Anchor(2, "all public names defined in the module are bound"),
            Anchor(1, 'Not imported by "from module import *"'),
        ),
    ),
    Question(
        "import-neighbour",
        "How do I import from the file next door in the same package, and what do the dots mean?",
        answers=(Anchor(3, "One leading dot means the current package where the module making the import exists"),),
    ),
    Question(
        "import-dotted-name",
        "After import xml.dom, do I write dom.something or the long form?",
        answers=(
            Anchor(3, "is bound in the local namespace as a reference to the top level package"),
            Anchor(3, "foo.bar, and foo.bar.baz imported, foo bound locally"),
        ),
    ),
    Question(
        "conditional-breakpoint",
        "How do I set a breakpoint that only stops when a counter has a certain value?",
        answers=(
            Anchor(3, "If a second argument is present, it is an expression which must evaluate to true"),
            Anchor(3, "for the breakpoint, an expression which must evaluate to true before the breakpoint is honored"),
        ),
    ),
    Question(
        "step-over-call",
        "While debugging I want to go to the following line without diving into the function that is called.",
        answers=(
            Anchor(3, "stops inside a called function"),
            Anchor(1, "Continue execution until the current function returns."),
        ),
    ),
    Question(
        "look-around-after-crash",
        "My script has just crashed. How can I look at the variables as they were at that moment?",
        answers=(
            Anchor(3, "The typical usage to inspect a crashed program is"),
            Anchor(2, "debugging if the program being debugged exits abnormally"),
            Anchor(3, "Enter post-mortem debugging of the"),
            Anchor(1, 'it is also made available to the user as "sys.last_traceback"'),
            Anchor(1, "It also supports post"),
        ),
    ),
    Question(
        "pause-script",
        "What do I write into my script to make it pause in the debugger?",
        answers=(
            Anchor(3, "The typical usage to break into the debugger is to insert"),
            Anchor(2, "Enter the debugger at the calling stack frame"),
        ),
    ),
)
