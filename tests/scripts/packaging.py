"""Tests the recipes in cmake/packaging/: their versions, their syntax, and the files that they install.
packaging.py ROOT FOLDER VERSION

Conan's recipe is built if there is a program conan, and conda's is rendered if there is the package rattler_build.  The
functions of vcpkg are replaced by short ones, which configure and install triad.  A line says what is left out.
SPDX-License-Identifier: Apache-2.0"""
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

root, folder, version = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), sys.argv[3]
packaging = root / "cmake" / "packaging"
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
folder = folder.resolve()


def expect(true, text):
    if not true:
        sys.exit(f"packaging: {text}")


def left_out(text):
    print(f"packaging: left out: {text}")


def run(*command, **environment):
    """Runs a program and returns its output."""
    done = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          cwd=folder, env={**os.environ, **environment})
    return done.returncode, done.stdout


def read(*names):
    return root.joinpath(*names).read_text(encoding="utf-8")


# ---- versions -------------------------------------------------------------------------------------------------------
def expect_version(where, pattern, text):
    found = re.findall(pattern, text, re.M)
    expect(found == [version], f"{where}: version {', '.join(found) or 'none'}, expected {version}, that of "
           "include/triad/version.hpp; change it there and here")


manifest = json.loads(read("cmake", "packaging", "vcpkg", "triad", "vcpkg.json"))
expect_version("include/triad/version.hpp", r'version\[\] = "(.*)"', read("include", "triad", "version.hpp"))
expect_version("cmake/packaging/vcpkg/triad/vcpkg.json", r"^(.*)$", manifest["version"])
expect_version("cmake/packaging/conda/recipe.yaml", r'^  version: "(.*)"',
               read("cmake", "packaging", "conda", "recipe.yaml"))
expect_version("CITATION.cff", r"^version: (.*)", read("CITATION.cff"))
expect_version("README.md", r"^  version = \{(.*?)\}", read("README.md"))
expect('dynamic = ["version"]' in read("examples", "python", "pyproject.toml"),
       "examples/python/pyproject.toml: a version of its own, expected dynamic = [\"version\"]; read version.hpp")

# ---- vcpkg ----------------------------------------------------------------------------------------------------------
for name in [manifest["name"], *manifest["features"],
             *(each if isinstance(each, str) else each["name"] for each in manifest["dependencies"])]:
    expect(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name), f"vcpkg.json: name {name!r}, expected lower-case words")
missing = {"name", "version", "description", "license"} - manifest.keys()
expect(not missing, f"vcpkg.json: found {', '.join(manifest)}, missing {', '.join(sorted(missing))}")
expect(manifest["license"] == "Apache-2.0", f"vcpkg.json: license {manifest['license']!r}, expected 'Apache-2.0'")

pinned, = re.findall(r"nvidia-cuda-cccl==([0-9.]+)", read("cmake", "cccl.txt"))
sha512 = "".join(re.findall(r"^#   ([0-9a-f]{64})$", read("cmake", "cccl.txt"), re.M))
stand_in = folder / "wheel.zip"  # the fewest files that triad's search for CCCL accepts
with zipfile.ZipFile(stand_in, "w") as archive:
    for name, text in {"cuda/std/mdspan": "", "cuda/std/__cccl/version.h": "#define CCCL_VERSION 3000000\n",
                       "cub/cub.cuh": "", "nv/target": "", "thrust/version.h": ""}.items():
        archive.writestr(f"nvidia/cu13/include/cccl/{name}", text)
    archive.writestr("nvidia_cuda_cccl.dist-info/licenses/License.txt", "licence\n")
packages = folder / "vcpkg" / "packages"
(folder / "port.cmake").write_text(f"""
cmake_minimum_required(VERSION 3.25)
set(CURRENT_PORT_DIR "{packaging.as_posix()}/vcpkg/triad")
set(CURRENT_BUILDTREES_DIR "{folder.as_posix()}/vcpkg/buildtrees")
set(CURRENT_PACKAGES_DIR "{packages.as_posix()}")
function(vcpkg_download_distfile result)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FILENAME;SHA512" "URLS")
  if(NOT arg_SHA512 STREQUAL "{sha512}")
    message(FATAL_ERROR "portfile.cmake: SHA512 ${{arg_SHA512}}, expected {sha512}, which cmake/cccl.txt names")
  endif()
  if(NOT arg_URLS MATCHES "^https://.*/nvidia_cuda_cccl-{re.escape(pinned)}-py3" OR
     NOT arg_FILENAME STREQUAL "nvidia_cuda_cccl-{pinned}.zip")
    message(FATAL_ERROR "portfile.cmake: ${{arg_URLS}}, expected CCCL {pinned}, which cmake/cccl.txt names")
  endif()
  set(${{result}} "{stand_in.as_posix()}" PARENT_SCOPE)
endfunction()
function(vcpkg_check_features)  # without any feature
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_FEATURE_OPTIONS" "INVERTED_FEATURES")
  list(FILTER arg_INVERTED_FEATURES INCLUDE REGEX "^CMAKE_")
  list(TRANSFORM arg_INVERTED_FEATURES REPLACE "(.+)" "-D\\\\1=ON")
  set(${{arg_OUT_FEATURE_OPTIONS}} "${{arg_INVERTED_FEATURES}}" PARENT_SCOPE)
endfunction()
function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  execute_process(COMMAND "${{CMAKE_COMMAND}}" -S "${{arg_SOURCE_PATH}}" -B "${{CURRENT_BUILDTREES_DIR}}/rel"
    "-DCMAKE_INSTALL_PREFIX=${{CURRENT_PACKAGES_DIR}}" -DCMAKE_INSTALL_LIBDIR=lib ${{arg_OPTIONS}}
    COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_install)
  execute_process(COMMAND "${{CMAKE_COMMAND}}" --install "${{CURRENT_BUILDTREES_DIR}}/rel" COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
  file(MAKE_DIRECTORY "${{CURRENT_PACKAGES_DIR}}/share")
  file(RENAME "${{CURRENT_PACKAGES_DIR}}/${{arg_CONFIG_PATH}}" "${{CURRENT_PACKAGES_DIR}}/share/triad")
endfunction()
function(vcpkg_fixup_pkgconfig)
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  file(COPY_FILE ${{arg_FILE_LIST}} "${{CURRENT_PACKAGES_DIR}}/share/triad/copyright")
endfunction()
include("${{CURRENT_PORT_DIR}}/portfile.cmake")
""", encoding="utf-8")
status, output = run("cmake", "-P", folder / "port.cmake")
expect(status == 0, f"portfile.cmake: status {status}, expected 0:\n{output}")
for name in ("include/triad/triad.hpp", "include/triad/ops/hooks.inc", "share/triad/triad-config.cmake",
             "share/triad/cccl/include/cuda/std/mdspan", "share/triad/copyright"):
    expect((packages / name).is_file(), f"portfile.cmake: no {name} in the package, expected it:\n{output}")
exported = "".join(path.read_text() for path in (packages / "share" / "triad").glob("*.cmake"))
targets = set(re.findall(r"add_library\((triad::\w+)", exported))
expect("triad::triad" in targets and not targets & {"triad::io", "triad::text"},
       f"portfile.cmake: targets {', '.join(sorted(targets))} without features, expected neither triad::io "
       "nor triad::text")

# ---- conda ----------------------------------------------------------------------------------------------------------
recipe = packaging / "conda" / "recipe.yaml"
try:
    import yaml
except ImportError:
    left_out("the syntax of recipe.yaml, without the package PyYAML")
else:
    parsed = yaml.safe_load(recipe.read_text(encoding="utf-8"))
    contents = next(test["package_contents"]["files"] for test in parsed["tests"] if "package_contents" in test)
    for name in contents:
        expect(name.startswith("lib/") or (root / name).is_file(), f"recipe.yaml: {name}, expected a file of triad")
    needed = parsed["requirements"]
    to_build, to_run = (set(needed[key]) for key in ("host", "run"))
    expect(to_build == to_run, f"recipe.yaml: only in host {sorted(to_build - to_run)}, only in run "
           f"{sorted(to_run - to_build)}, expected the same requirements")
    for name in (name for test in parsed["tests"] if "files" in test for name in test["files"]["source"]):
        expect((root / name).is_dir(), f"recipe.yaml: {name}, expected a folder of triad")
    expect((recipe.parent / parsed["source"]["path"]).resolve() == root, "recipe.yaml: another folder than triad's")
try:
    import rattler_build
except ImportError:
    left_out("rendering recipe.yaml, without the package py-rattler-build")
else:
    rendered = rattler_build.Stage0Recipe.from_file(str(recipe)).render(rattler_build.VariantConfig())
    expect(f"version='{version}'" in str(rendered[0]), f"recipe.yaml: {rendered[0]}, expected version {version}")

# ---- Conan ----------------------------------------------------------------------------------------------------------
for path in (packaging / "conan" / "conanfile.py", packaging / "conan" / "test_package" / "conanfile.py"):
    compile(path.read_text(encoding="utf-8"), str(path), "exec")
conan = shutil.which("conan") or shutil.which("conan", path=str(Path(sys.executable).parent))
if not conan:
    left_out("Conan's recipe, without the program conan")
else:
    home = {"CONAN_HOME": str(folder / "conan")}
    status, output = run(conan, "profile", "detect", **home)
    expect(status == 0, f"conan profile detect: status {status}, expected 0:\n{output}")
    status, output = run(conan, "create", packaging / "conan", "--no-remote", "-s", "compiler.cppstd=20", "-c",
                         f"tools.cmake.cmake_layout:test_folder={folder}/conan_test", **home)
    if status != 0 and "pip said" in output:
        left_out("Conan's recipe, because pip cannot fetch CCCL's headers")
    else:
        expect(status == 0, f"conan create: status {status}, expected 0:\n{output}")
        expect(f"triad {version}: ( S predicate subject )" in output, f"conan create: no test was run:\n{output}")
        package, = (folder / "conan" / "p" / "b").glob("*/p")
        files = {str(path.relative_to(package)) for path in package.rglob("*") if path.is_file()}
        missing = {"lib/cmake/triad/triad-config.cmake", "include/triad/triad.hpp", "licenses/LICENSE",
                   "lib/cmake/triad/cccl/include/cuda/std/mdspan"} - files
        expect(not missing, f"conan create: found {len(files)} files, missing {', '.join(sorted(missing))}")
print("packaging: the recipes have version", version)
