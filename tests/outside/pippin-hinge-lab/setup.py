from setuptools import Extension, setup

setup(ext_modules=[Extension("pippin_hinge_lab._core", ["src/pippin_hinge_lab/_core.c"])])
