"""The kind `wind`, as `pippin.kinds` registers it."""

from pippin.catalog import Kind

WIND = Kind(
    name="wind",
    plural="winds",
    meaning="Pushes bodies by the drag of moving air.",
    place="winds.*",
    is_component=True,
    base="pippin_wind.wind:Wind",
    checks="pippin_wind.checks:WIND",
    template="pippin_wind:templates/wind",
)
