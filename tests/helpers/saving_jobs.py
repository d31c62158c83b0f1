"""Processes that save predictors at the same time, or until they are killed."""

from pathlib import Path

from planted import planted

from linkparity import LinkPredictor
from linkparity.models.prediction.saving import save_predictor
from linkparity.support.errors import InputError


def save_together(criterion, places: list[Path], case: str, barrier, said) -> None:
    """Save to each place at the moment that another process does; tell what was refused."""
    predictor = LinkPredictor("maxent", criterion=criterion).fit(planted())
    refused = []
    for place in places:
        barrier.wait(60)
        try:
            save_predictor(predictor, place, replace=case != "first")
        except InputError as error:
            refused.append(error.message.problem)
        except Exception as error:
            refused.append(repr(error))
    said.put((criterion, refused))


def save_forever(place: Path, ready) -> None:
    """Save two predictors in turn until the process is killed."""
    runs = [LinkPredictor("maxent", criterion=name).fit(planted()) for name in ("dp", "weak-dp")]
    ready.set()
    while True:
        for run in runs:
            run.save(place)
