# Tests an install into absolute directories, as Linux distributions set them. CMake and pkg-config must find an install
# inside the prefix, which can then be moved, and an install outside the prefix. Also tests an install and a checkout in
# the same project. The first of the two is used.
cmake_minimum_required(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/../run.cmake")
file(REMOVE_RECURSE "${FOLDER}")
set(common -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DTRIAD_CCCL_DIR=${CCCL}")

# configure(BUILD SOURCE OPTION...) configures a project, and stops if CMake warns.
function(configure build source)
  run("${CMAKE_COMMAND}" -S "${source}" -B "${build}" ${common} ${ARGN})
  if(output MATCHES "CMake (Warning|Deprecation)")
    message(FATAL_ERROR "Configuring warns:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# expect_found(NAME LIBDIR) builds a project that uses triad::tree, by CMake and by pkg-config.
function(expect_found name libdir)
  configure("${FOLDER}/${name}_user" "${SOURCE}/examples/embed/consume/tree" "-Dtriad_DIR=${libdir}/cmake/triad")
  file(WRITE "${FOLDER}/user.cpp" "#include \"triad/tree/tree.hpp\"\n")
  run("${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${libdir}/pkgconfig" pkg-config --cflags triad-tree)
  separate_arguments(flags UNIX_COMMAND "${output}")
  run("${COMPILER}" -std=c++20 ${flags} -fsyntax-only "${FOLDER}/user.cpp")
  message("${name}: found")
endfunction()

# installed(NAME INCLUDEDIR LIBDIR) installs triad into these directories.
function(installed name includedir libdir)
  configure("${FOLDER}/${name}_build" "${SOURCE}" -DTRIAD_TESTS=OFF -DTRIAD_EXAMPLES=OFF -DTRIAD_BENCH=OFF
    "-DCMAKE_INSTALL_PREFIX=${FOLDER}/${name}/out" "-DCMAKE_INSTALL_INCLUDEDIR=${includedir}" "-DCMAKE_INSTALL_LIBDIR=${libdir}")
  run("${CMAKE_COMMAND}" --install "${FOLDER}/${name}_build")
  if(NOT EXISTS "${includedir}/triad/triad.hpp")
    message(FATAL_ERROR "${name}: the headers are not in ${includedir}")
  endif()
  expect_found(${name} "${libdir}")
endfunction()

installed(outside "${FOLDER}/outside/dev/include" "${FOLDER}/outside/libraries/lib")
installed(inside "${FOLDER}/inside/out/include" "${FOLDER}/inside/out/lib")
file(RENAME "${FOLDER}/inside/out" "${FOLDER}/moved")
expect_found(moved "${FOLDER}/moved/lib")

# Every target that the install or the checkout provides must be usable.
foreach(order IN ITEMS package_first checkout_first)
  set(package "find_package(triad REQUIRED COMPONENTS native)")
  set(checkout "add_subdirectory(\"${SOURCE}\" triad)")
  set(first "${package}\n${checkout}")
  if(order STREQUAL "checkout_first")
    set(first "${checkout}\n${package}")
  endif()
  file(WRITE "${FOLDER}/${order}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)\nproject(both LANGUAGES CXX)\n${first}\n\
foreach(name IN ITEMS tree triad native kernels)\n  if(NOT TARGET triad::\${name})\n    message(FATAL_ERROR \"no triad::\${name}\")\n  endif()\nendforeach()\n\
add_library(user STATIC user.cpp)\ntarget_link_libraries(user PRIVATE triad::triad triad::native)\n")
  file(WRITE "${FOLDER}/${order}/user.cpp" "#include \"triad/tree/tree.hpp\"\n")
  configure("${FOLDER}/${order}/build" "${FOLDER}/${order}" "-Dtriad_DIR=${FOLDER}/moved/lib/cmake/triad")
  if(order STREQUAL "package_first" AND NOT output MATCHES "is left out: this project has triad::triad already")
    message(FATAL_ERROR "Nothing says that the checkout is left out:\n${output}")
  endif()
  run("${CMAKE_COMMAND}" --build "${FOLDER}/${order}/build" --target user)
  message("${order}: builds")
endforeach()
