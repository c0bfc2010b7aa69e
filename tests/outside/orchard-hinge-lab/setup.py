from setuptools import Extension, setup

setup(ext_modules=[Extension("orchard_hinge_lab._core", ["src/orchard_hinge_lab/_core.c"])])
