"""Random mechanisms and robot files, which solvers move beside MuJoCo: `pippin fuzz`."""
