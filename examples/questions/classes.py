"""Questions on classes: attributes, descriptors, slots, inheritance and the making of classes."""

from questions.question import Anchor, Question

QUESTIONS = (
    Question(
        "computed-attributes",
        "Where do I hook in so that attributes that do not exist are worked out on the fly?",
        answers=(
            Anchor(3, "Called when the default attribute access fails with an"),
            Anchor(2, "This production can be customized by overriding the"),
            Anchor(2, "method, that is called to satisfy the lookup"),
            Anchor(1, "Called unconditionally to implement attribute accesses for instances of the class"),
            Anchor(1, "can be also used to customize access to module attributes"),
        ),
    ),
    Question(
        "getattr-and-getattribute",
        "What is the difference between __getattr__ and __getattribute__?",
        parts=(
            (
                Anchor(3, "Called when the default attribute access fails with an"),
                Anchor(2, "This production can be customized by overriding the"),
                Anchor(2, "method, that is called to satisfy the lookup"),
            ),
            (
                Anchor(3, "Called unconditionally to implement attribute accesses for instances of the class"),
                Anchor(1, "This production can be customized by overriding the"),
            ),
        ),
    ),
    Question(
        "endless-recursion-on-access",
        "I log each read of a member in my class and now it dies with a recursion error.",
        answers=(
            Anchor(3, "In order to avoid infinite recursion in this method"),
            Anchor(1, "and because otherwise"),
        ),
    ),
    Question(
        "store-inside-setattr",
        "How do I really store the value when I have defined my own __setattr__?",
        answers=(
            Anchor(3, "wants to assign to an instance attribute, it should call the base class method"),
            Anchor(1, "this is called instead of updating the instance dictionary directly"),
        ),
    ),
    Question(
        "warn-on-old-constant",
        "I want to print a warning as soon as somebody reads an old constant of my module.",
        answers=(
            Anchor(3, "can be also used to customize access to module attributes"),
            Anchor(1, "only affect lookups made using the attribute access syntax"),
        ),
    ),
    Question(
        "property-wins",
        "I wrote a value straight into obj.__dict__ but the property of that name still answers. Why?",
        answers=(
            Anchor(3, "Accordingly, instances cannot override the behavior of a property"),
            Anchor(3, "always override a redefinition in an instance dictionary"),
            Anchor(1, "changes the kind of descriptor to a"),
            Anchor(1, "may override the default behavior and invoke the descriptor method instead"),
        ),
    ),
    Question(
        "own-property-type",
        "What must a class offer so that reading and writing an attribute of other classes goes through its code?",
        parts=(
            (
                Anchor(3, "Called to get the attribute of the owner class"),
                Anchor(2, "one whose attribute access has been overridden by methods in the descriptor protocol"),
            ),
            (
                Anchor(3, "Called to set the attribute on an instance"),
                Anchor(2, "one whose attribute access has been overridden by methods in the descriptor protocol"),
                Anchor(2, "If the descriptor defines"),
            ),
        ),
    ),
    Question(
        "field-learns-its-name",
        "How can a field object in a class body find out which variable it was put in?",
        answers=(
            Anchor(3, "Automatically called at the time the owning class"),
            Anchor(
                2, "methods are called with the class being defined and the assigned name of that particular attribute"
            ),
            Anchor(1, "If the class variable is assigned after the class is created"),
        ),
    ),
    Question(
        "millions-of-small-objects",
        "I create millions of tiny objects and run out of RAM. Can instances be made smaller?",
        answers=(Anchor(3, "can be significant. Attribute lookup speed can be significantly improved as well"),),
    ),
    Question(
        "slots-do-not-forbid",
        "Despite __slots__ I can still set any attribute I like. What undoes it?",
        answers=(
            Anchor(3, "When inheriting from a class without *__slots__*"),
            Anchor(3, "is not limited to the class where it is defined"),
            Anchor(2, "If dynamic assignment of new variables is desired, then add \"'__dict__'\""),
        ),
    ),
    Question(
        "slot-with-default",
        "How do I give a slot a default? A class variable of the same name is refused.",
        answers=(Anchor(3, "class attributes cannot be used to set default values for instance variables defined by"),),
    ),
    Question(
        "metaclass-conflict",
        "TypeError about conflicting metaclasses as soon as I inherit from two libraries. What is the rule?",
        answers=(
            Anchor(3, "then the class definition will fail with"),
            Anchor(1, "The class creation process can be customized by passing the"),
        ),
    ),
    Question(
        "notice-every-subclass",
        "Run some code each time somebody makes a subclass of my base class, for example to register plugins.",
        answers=(
            Anchor(3, "This method is called whenever the containing class is subclassed"),
            Anchor(2, "hook is called on the immediate parent of the new class"),
            Anchor(1, "The class creation process can be customized by passing the"),
            Anchor(1, 'The default implementation "object.__init_subclass__" does nothing'),
        ),
    ),
    Question(
        "list-derived-classes",
        "Can a class tell me its subclasses?",
        answers=(Anchor(3, "Each class keeps a list of weak references to its immediate subclasses"),),
    ),
    Question(
        "diamond-inheritance",
        "Two of my parents share a grandparent. In which order are they searched for a method?",
        answers=(
            Anchor(3, "inheritance structures where there are multiple inheritance paths leading back to a common"),
            Anchor(2, "looking for base classes during method resolution"),
        ),
    ),
    Question(
        "super-without-arguments",
        "How does a bare super() know which class it was written in?",
        answers=(
            Anchor(3, '"__class__" is an implicit closure reference created by the compiler'),
            Anchor(1, "or through the implicit lexically scoped"),
            Anchor(1, 'Describes the implicit "__class__" closure reference'),
        ),
    ),
    Question(
        "subclass-of-tuple",
        "I derive from tuple and want to change what goes in, but it is too late in __init__.",
        answers=(
            Anchor(3, "is intended mainly to allow subclasses of immutable types"),
            Anchor(2, "Called to create a new instance of class"),
            Anchor(1, "variations are possible for class types that override"),
        ),
    ),
    Question(
        "init-never-runs",
        "The constructor gives me an object, but my __init__ is skipped.",
        answers=(
            Anchor(3, '"__new__()" does not return an instance of *cls*'),
            Anchor(2, "variations are possible for class types that override"),
            Anchor(1, "Called after the instance has been created (by"),
        ),
    ),
    Question(
        "parent-constructor",
        "Is the __init__ of the parent run by itself when I write my own?",
        answers=(Anchor(3, "must explicitly call it to ensure proper initialization of the base class part"),),
    ),
    Question(
        "isinstance-for-strangers",
        "Make isinstance say yes for classes that never inherited from mine.",
        answers=(
            Anchor(3, "methods are used to override the default behavior of the"),
            Anchor(3, "should be considered a (direct or indirect) instance of"),
            Anchor(2, "They cannot be defined as class methods in the actual class"),
        ),
    ),
    Question(
        "brackets-on-a-class",
        "How do I make MyType[int] work in annotations for a class I wrote?",
        answers=(
            Anchor(3, "parameterized if it defines the special class method"),
            Anchor(3, "To implement custom generic classes that can be parameterized at runtime"),
            Anchor(2, "if the object being subscribed is itself a class"),
            Anchor(1, "An object may support subscription through defining one or both of"),
            Anchor(1, 'all result in "__class_getitem__()" being called'),
        ),
    ),
    Question(
        "two-leading-underscores",
        "Why can I not reach an attribute with two leading underscores under its own name from outside the class?",
        answers=(
            Anchor(3, "names are transformed to a longer form before code is generated"),
            Anchor(2, "form to help avoid name clashes between"),
        ),
    ),
    Question(
        "class-variable-unchanged",
        "self.total = self.total + 1 leaves the total of the class as it was. Why?",
        answers=(
            Anchor(3, "is always set as an instance attribute, creating it if necessary"),
            Anchor(2, "Variables defined in the class definition are class attributes; they are shared by instances"),
            Anchor(2, "Attribute assignments and deletions update the"),
            Anchor(1, "the same caveat about class and instance attributes applies as for regular assignments"),
        ),
    ),
    Question(
        "one-list-for-all-instances",
        "Appending to a list attribute of one instance shows up in all others. The list is defined in the class body.",
        answers=(
            Anchor(3, "using mutable values there can lead to unexpected results"),
            Anchor(1, "the search continues with the class attributes"),
        ),
    ),
)
