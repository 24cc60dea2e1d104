#include "engine/step_costs_key.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>
#include <span>

#include "base/digest.h"

namespace kvik {

static std::string digest(const std::string& words) {
    return xxh3_128_hex(std::as_bytes(std::span(words)));
}

// Each with its length, so that none can run into the next.
static std::string machine_and_model(const StepCostsKey& key) {
    std::string words = fmt::format("{} {}", key.n_threads, key.block_tokens);
    for (const std::string* word : {&key.cpu, &key.isa, &key.act, &key.kv, &key.model})
        words += fmt::format(" {}:{}", word->size(), *word);
    return words;
}

std::string StepCostsKey::place() const {
    return digest(machine_and_model(*this));
}

std::string StepCostsKey::whole() const {
    return digest(fmt::format("{} {} {}", machine_and_model(*this), numerics, program));
}

std::string cpu_model(const std::string& root) {
    std::ifstream file(root + "/proc/cpuinfo");
    for (std::string line; std::getline(file, line) && !line.empty();)
        if (line.starts_with("model name")) return line.substr(line.find(':') + 1);
    return {};
}

std::string program_id(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return {};
    return fmt::format("{}-{}.{:09}", status.st_size, status.st_mtim.tv_sec,
                       status.st_mtim.tv_nsec);
}

}  // namespace kvik
