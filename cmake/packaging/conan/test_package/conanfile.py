"""Builds examples/embed/consume/tree against the package, and runs it."""
import io
import os

from conan import ConanFile
from conan.errors import ConanException
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class TriadTest(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeToolchain"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        cmake.configure(build_script_folder=os.path.join(*[".."] * 4, "examples", "embed", "consume", "tree"))
        cmake.build()

    def test(self):
        if not can_run(self):
            return
        output = io.StringIO()
        self.run(os.path.join(self.cpp.build.bindir, "consume"), output, env="conanrun")
        expected = f"triad {self.dependencies['triad'].ref.version}: ( S predicate subject )"
        if expected not in output.getvalue():
            raise ConanException(f"consume: {output.getvalue()!r}, expected {expected!r}; see the output above")
        self.output.info(output.getvalue().strip())
