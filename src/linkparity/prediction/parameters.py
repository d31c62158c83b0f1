"""The manners of scikit-learn: arguments of a constructor that can be read, changed and shown."""

import inspect
from typing import Any, Self


class Parameters:
    """Arguments of the constructor are attributes of the same name."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Every argument of the constructor, by name."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Change arguments of the constructor; :meth:`fit` again for it to matter."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__}: unknown parameter {name!r}; known: {', '.join(known)}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        told = [
            f"{name}={value.__name__ if isinstance(value, type) else repr(value)}"
            for name, value in self.get_params().items()
            if repr(value) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(told)})"
