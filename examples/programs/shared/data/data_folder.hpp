// Finds the files in the folder of a data set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace triad::programs {

/// The files of a data set: train, optionally dev, and either test or several files test_NAME.
struct data_files {
  std::string train, dev;                                  // empty if missing
  std::vector<std::pair<std::string, std::string>> tests;  // (`test` or NAME, path), sorted by name
};

/// Finds the files of a data set in a folder.  Their names end in one of `endings`, such as ".jsonl", and the files may
/// be gzipped. dev may be called validation.  A .conllu file may have a treebank's name as a prefix, as in
/// en_ewt-ud-train.conllu.  If `needs_train`, the folder must have train; otherwise it must have a test or dev.  If
/// `folder` is a file, this file is the only test.  Throws data_error.
data_files find_data(std::string const& folder, std::vector<std::string> const& endings, bool needs_train);

/// Returns the path of the first of these names that exists in the folder, gzipped or not.  Returns an empty text if
/// none exists.  Throws data_error if a file exists both plain and gzipped.
std::string find_file(std::string const& folder, std::vector<std::string> const& names);

/// Returns the path like find_file(), but throws data_error with this advice if none of the files exists.
std::string need_file(std::string const& folder, std::vector<std::string> const& names, std::string const& advice);

/// Returns the path of dev or validation, with the first of `endings` that exists.  Returns an empty text if neither
/// exists.  Throws data_error if both exist.
std::string find_dev(std::string const& folder, std::vector<std::string> const& endings);

/// Returns the end of a message about a missing file, such as "; the folder has a.csv, b.csv and 3 more".
std::string files_there(std::string const& folder);

/// Throws data_error, because two files exist and either could be meant.
[[noreturn]] void refuse_both(std::string const& one, std::string const& other);

}  // namespace triad::programs
