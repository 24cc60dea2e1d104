// Files that lie, one lie each: the cases behind docs/hostile-files.md and behind every law that
// holds for all of them.
//
// Use     write_files puts a case into a folder; what is opened there is `open`, and must be refused.
// Shape   a case is a kilobyte or so, unless its lie is about a limit.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kvik {

struct HostileFile {
    std::string about;  // what part of the file lies: a heading
    std::string lie;    // what it says
    struct Part {
        std::string name;
        std::vector<std::byte> bytes;
    };
    std::vector<Part> parts;
    std::string open;  // a part, or empty: the folder
};

std::vector<HostileFile> hostile_ggufs();        // for GgufFile
std::vector<HostileFile> hostile_safetensors();  // for SafetensorsFile
std::vector<HostileFile> hostile_models();       // sound GGUF files, for whoever loads a model
std::vector<HostileFile> hostile_tokenizers();   // Hugging Face tokenizers, and no model

// Sound: a mask of booleans and positions of integers lie beside the weights.
HostileFile harmless_directory();

// Returns the path to open. Aborts if the folder cannot be written to.
std::string write_files(const HostileFile& file, const std::string& folder);

}  // namespace kvik
