# Overlay port: installs triad from the checkout that contains this file.
#   vcpkg install triad --overlay-ports=cmake/packaging/vcpkg
set(VCPKG_BUILD_TYPE release)  # headers are the same for all build types
cmake_path(SET SOURCE_PATH NORMALIZE "${CURRENT_PORT_DIR}/../../../..")

# The headers of CCCL, in the release that cmake/cccl.txt pins.  They become a part of the package because of the name
# of their folder.
set(place "https://files.pythonhosted.org/packages/ab/fb/0384bb2129bed6b1b39f8e44471c615ab5ab29b7e55817538a1d390d8f84")
string(CONCAT sha512
  b9fe554f35ae6cf179e3d9ed0670ad776bee6f5f69e125def4c305cb062df058
  715443987f52be863488f6f2b960560378138036d5c2079cdbaec30d651c6422)
vcpkg_download_distfile(WHEEL
  URLS "${place}/nvidia_cuda_cccl-13.0.85-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
  FILENAME nvidia_cuda_cccl-13.0.85.zip
  SHA512 "${sha512}")
file(REMOVE_RECURSE "${CURRENT_BUILDTREES_DIR}/deps/cccl")
file(ARCHIVE_EXTRACT INPUT "${WHEEL}" DESTINATION "${CURRENT_BUILDTREES_DIR}/deps/cccl")

# Without these packages, triad has no triad::io and no triad::text.
vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
  INVERTED_FEATURES
    io CMAKE_DISABLE_FIND_PACKAGE_nlohmann_json
    text CMAKE_DISABLE_FIND_PACKAGE_ZLIB)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS "-DTRIAD_CCCL_DIR=${CURRENT_BUILDTREES_DIR}/deps/cccl" -DTRIAD_INSTALL=ON -DTRIAD_TESTS=OFF
    -DTRIAD_EXAMPLES=OFF -DTRIAD_BENCH=OFF ${FEATURE_OPTIONS})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/triad)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
