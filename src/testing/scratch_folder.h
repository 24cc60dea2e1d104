// ScratchFolder: a folder for a test, gone with all that is in it when the test ends.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>

#include "base/check.h"

namespace kvik {

class ScratchFolder {
  public:
    ScratchFolder() : path_(std::filesystem::temp_directory_path() / "kvik-test-") {
        path_ += std::string(6, 'X');  // mkdtemp chooses the letters
        KVIK_CHECK(::mkdtemp(path_.data()) != nullptr, "a test gets its folder");
    }
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    std::string path(const std::string& name) const { return path_ + "/" + name; }
    const std::string& path() const { return path_; }
    size_t n_files() const {
        const std::filesystem::directory_iterator all(path_);
        return static_cast<size_t>(std::distance(begin(all), end(all)));
    }

  private:
    std::string path_;
};

}  // namespace kvik
