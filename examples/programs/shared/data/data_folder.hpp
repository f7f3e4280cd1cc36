// Finds the files in the folder of a data set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace triad::programs {

/// The files of a data set: train, maybe dev, and test or several test_NAME.
struct data_files {
  std::string train, dev;                                  // none: empty
  std::vector<std::pair<std::string, std::string>> tests;  // test or NAME, and its path; by their names
};

/// Those of a folder, that end in one of `endings` (".jsonl"), gzipped or not; dev may be called validation, and a
/// .conllu may have a treebank's name before its own, as en_ewt-ud-train.conllu.  needs_train: a folder that has no
/// train is refused; else one that has no test.  A file instead of a folder is the one test.  Throws data_error.
data_files find_data(std::string const& folder, std::vector<std::string> const& endings, bool needs_train);

/// The first of these names that the folder has a file of, gzipped or not, as its path; nothing where it has none.
/// Throws data_error where that one is there in both ways.
std::string find_file(std::string const& folder, std::vector<std::string> const& names);

/// The same, where there must be one; `advice` says what to do where there is none.  Throws data_error.
std::string need_file(std::string const& folder, std::vector<std::string> const& names, std::string const& advice);

/// That of dev, which may be called validation: NAME + ending of the first of `endings` that it has; or nothing. Throws
/// data_error where both are there.
std::string find_dev(std::string const& folder, std::vector<std::string> const& endings);

/// "; the folder has a.csv, b.csv and 3 more", for a message that one is missing.
std::string files_there(std::string const& folder);

/// Throws data_error: which of two files is meant is unknown.
[[noreturn]] void refuse_both(std::string const& one, std::string const& other);

}  // namespace triad::programs
