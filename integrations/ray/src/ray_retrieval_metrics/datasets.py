"""Check datasets of Ray, and apply functions to their blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable

    from ray.data import Dataset

# The number of processors of a stage that Ray must not fuse with the stage before it. Ray fuses stages with equal
# numbers, and a fused stage passes on a block emptied by a filter with columns that the shuffle does not expect.
SINGLE_TASK = 0.999


def map_blocks(
    dataset: Dataset, function: Callable[..., pa.Table], num_cpus: float | None = None, **options: object
) -> Dataset:
    """Return a dataset with a function of a table, and of options, applied to each whole block."""
    mapped = dataset.map_batches(
        function,
        batch_size=None,
        batch_format="pyarrow",
        zero_copy_batch=True,
        fn_kwargs=options,
        num_cpus=num_cpus,
    )
    mapped.context.raise_original_map_exception = True  # otherwise Ray raises an error of its own instead of ours
    return mapped


def require_dataset(value: object, name: str) -> None:
    """Raise if something is not a Dataset."""
    from ray.data import Dataset

    if not isinstance(value, Dataset):
        raise TypeError(
            f"{name} must be a Ray Dataset, got {type(value).__name__}; create one with ray.data.read_parquet, "
            "ray.data.from_pandas or the like, or pass data that fit into memory to rm.evaluate"
        )


def column_names(dataset: Dataset, name: str) -> list[str]:
    """Return the names of the columns of a dataset.

    Raises:
        TypeError: If blocks have columns of different types.
        ValueError: If it has no rows.
    """
    try:
        names = dataset.columns()
    except pa.ArrowTypeError as error:
        first_line, _, _ = str(error).partition("\n")
        raise TypeError(
            f"the blocks of {name} have columns of different types ({first_line}); convert them "
            "before they come together: IDs are all text or all whole numbers, scores and grades are numbers"
        ) from None
    if not names:
        raise ValueError(f"{name} is empty: it has no rows")
    return list(names)
