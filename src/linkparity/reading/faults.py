"""Faults of tables, collected so that all of them are told at once."""

from linkparity.support.errors import InputError

#: From this many further faults on, one fix for all follows the problems: a line must hold them.
MANY_FAULTS = 3
UNKNOWN_CHOICES = ("{unknown=group}", "{unknown=keep}", "{unknown=drop}")
EVERY_CHOICE = ("{self_loops=drop}", "{duplicates=first}", *UNKNOWN_CHOICES)


class Faults:
    """Faults, the first of each kind with the number of rows; raised together.

    Args:
        choices: the options that accept faulty rows, for the fix of many faults.
    """

    def __init__(self, choices: tuple[str, ...] = EVERY_CHOICE) -> None:
        self.choices = choices
        self.found: list[InputError] = []

    def add(self, fault: InputError) -> None:
        """Remember a fault."""
        self.found.append(fault)

    def raise_any(self) -> None:
        """Raise the faults as one error in one line."""
        if not self.found:
            return
        if len(self.found) == 1:
            raise self.found[0]
        first, *others = (fault.message for fault in self.found)
        if len(others) < MANY_FAULTS:
            fixes = [first.fix]
            fixes += [f"also {each.where}: {each.problem}; {each.fix}" for each in others]
            raise InputError(first.problem, "; ".join(fixes), where=first.where)
        problems = [first.problem, *(f"also {each.where}: {each.problem}" for each in others)]
        options = f"{', '.join(self.choices[:-1])} or {self.choices[-1]}"
        fix = f"fix these rows, or use {options}"
        raise InputError("; ".join(problems), fix, where=first.where)
