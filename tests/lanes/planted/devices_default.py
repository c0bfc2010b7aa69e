"""A fault that only shows on a machine with a GPU: an array on the default device."""

import warp as wp


def test_an_array_is_made_by_a_line_of_pippin():
    names = {"__name__": "pippin_planted", "wp": wp}

    exec("array = wp.zeros(3, dtype=float)", names)

    assert names["array"].device == wp.get_device("cpu")
