"""Conan recipe of triad.  The package has headers, the pinned headers of CCCL, and triad's own CMake package, which
searches for a BLAS on the machine that uses it:  conan create cmake/packaging/conan"""
import os
import re

from conan import ConanFile
from conan.errors import ConanException
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

required_conan_version = ">=2.0"


class Triad(ConanFile):
    name = "triad"
    description = "Neural networks that generalise compositionally"
    license = "Apache-2.0"
    topics = ("header-only", "machine-learning", "transformer", "cuda")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self._root, "include", "triad", "version.hpp"))
        self.version = re.search(r'version\[\] = "([0-9.]+)"', header).group(1)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "include/*", "cmake/*"):
            copy(self, pattern, self._root, self.export_sources_folder, excludes="cmake/packaging/*")

    def layout(self):
        cmake_layout(self)

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "EXAMPLES", "BENCH"):
            toolchain.cache_variables[f"TRIAD_{part}"] = False
        toolchain.cache_variables["TRIAD_INSTALL"] = True
        # Without them, there are no triad::io and triad::text, so the package is the same on every machine.
        for name in ("nlohmann_json", "ZLIB"):
            toolchain.cache_variables[f"CMAKE_DISABLE_FIND_PACKAGE_{name}"] = True
        toolchain.cache_variables["CMAKE_INSTALL_LIBDIR"] = "lib"
        # The headers of CCCL become a part of the package only if they lie in a folder with this name.
        toolchain.cache_variables["TRIAD_CCCL_DIR"] = os.path.join(self.build_folder, "deps", "cccl").replace("\\", "/")
        toolchain.generate()

    def build(self):
        fetch = os.path.join(self.source_folder, "cmake", "fetch_cccl.cmake")
        self.run(f'cmake -D PROJECT_IS_TOP_LEVEL=ON -D "TRIAD_DEPS_DIR={self.build_folder}/deps" -P "{fetch}"')
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        if not os.path.isfile(os.path.join(self.package_folder, "lib", "cmake", "triad", "triad-config.cmake")):
            raise ConanException("triad: no lib/cmake/triad/triad-config.cmake in the package, expected the CMake "
                                 "package; see what CMake printed")
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))  # it has paths of this machine

    def package_id(self):
        self.info.clear()

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")  # find_package(triad) finds triad's own package
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "triad")]
        self.cpp_info.bindirs, self.cpp_info.libdirs = [], []
