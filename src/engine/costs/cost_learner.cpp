#include "engine/costs/cost_learner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string_view>
#include <utility>

#include "base/digest.h"

namespace kvik {

// ---- StepCostsKey and its file ----

// ---- StepCostsKey ----

static std::string digest(const std::string& words) {
    return xxh3_128_hex(std::as_bytes(std::span(words)));
}

// Writes each word with its length, so that different keys never give the same text.
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

// ---- the file ----
namespace {

constexpr std::string_view kVersion = "kvik step costs 1";
constexpr size_t kMostBytes = 4096;

// Calls visit(values) for every row of the table, in the order of the file.
template <class Costs, class Visit>
void each_row(Costs& costs, const Visit& visit) {
    for (auto& row : costs.step_ms) visit(row);
    visit(costs.chunk_ms);
}

// Returns the lines before the table.
std::string head_of(const StepCostsKey& key) {
    return fmt::format("{}\n{}\n", kVersion, key.whole());
}

std::string digest_line(std::string_view text) {
    return xxh3_128_hex(std::as_bytes(std::span(text))) + "\n";
}

std::string text_of(const StepCostsKey& key, const StepCosts& costs) {
    std::string text = head_of(key);
    each_row(costs, [&](const auto& row) {
        for (const double ms : row) text += fmt::format("{} ", ms);
        text.back() = '\n';
    });
    return text + digest_line(text);
}

std::optional<StepCosts> costs_of(std::string_view text, const StepCostsKey& key) {
    const std::string head = head_of(key);
    const size_t digest_bytes = digest_line("").size();
    if (!text.starts_with(head) || text.size() < head.size() + digest_bytes) return {};
    const std::string_view body = text.substr(0, text.size() - digest_bytes);
    if (text.substr(body.size()) != digest_line(body)) return {};
    const char* at = body.data() + head.size();
    const char* const end = body.data() + body.size();
    bool is_whole = true;
    StepCosts costs;
    each_row(costs, [&](auto& row) {
        for (double& ms : row) {
            const auto read = std::from_chars(at, end, ms);
            is_whole = is_whole && read.ec == std::errc() && read.ptr != end;
            at = read.ptr == end ? end : read.ptr + 1;
        }
    });
    if (!is_whole || at != end || !costs.is_lawful()) return {};
    return costs;
}

// Reads a small regular file; nothing: it is missing, or not a regular file.
std::optional<std::string> read_small(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return {};
    struct stat status {};
    const bool is_file = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    std::string text(kMostBytes, '\0');
    const ssize_t n = is_file ? ::read(fd, text.data(), text.size()) : -1;
    ::close(fd);
    if (n < 0) return {};
    text.resize(static_cast<size_t>(n));
    return text;
}

// Makes a folder and those above it; new ones are for their owner alone.
void make_folders(const std::string& folder) {
    for (size_t slash = 0; slash != std::string::npos;) {
        slash = folder.find('/', slash + 1);
        ::mkdir(folder.substr(0, slash).c_str(), 0700);
    }
}

}  // namespace

std::string step_costs_path(const std::string& folder, const StepCostsKey& key) {
    return folder + "/step-costs-" + key.place();
}

std::optional<StepCosts> read_step_costs(const std::string& folder, const StepCostsKey& key) {
    if (folder.empty()) return {};
    const std::optional<std::string> text = read_small(step_costs_path(folder, key));
    return text ? costs_of(*text, key) : std::nullopt;
}

Kept keep_step_costs(const std::string& folder, const StepCostsKey& key, const StepCosts& costs) {
    if (folder.empty()) return Kept::no;
    make_folders(folder);
    const std::string path = step_costs_path(folder, key);
    std::string beside = path + "." + std::string(6, 'X');  // mkostemp chooses the letters
    const int fd = ::mkostemp(beside.data(), O_CLOEXEC);
    if (fd < 0) return Kept::no;
    const std::string text = text_of(key, costs);
    const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    const bool closed = ::close(fd) == 0;
    if (written && closed && ::rename(beside.c_str(), path.c_str()) == 0) return Kept::yes;
    ::unlink(beside.c_str());
    return Kept::no;
}

// ---- CostLearner ----

CostLearner::CostLearner(Calibrate mode, std::string folder, StepCostsKey key)
    : mode_(mode),
      folder_(std::move(folder)),
      key_(std::move(key)),
      is_wanted_(mode != Calibrate::off) {}

std::optional<StepCosts> CostLearner::find(const Measure& measure) {
    if (mode_ == Calibrate::off) return std::nullopt;
    const std::optional<StepCosts> found =
        mode_ == Calibrate::on ? read_step_costs(folder_, key_) : measure([] { return false; });
    if (!found) return std::nullopt;
    if (mode_ == Calibrate::fresh) keep_step_costs(folder_, key_, *found);
    note(*found);
    return found;
}

std::optional<StepCosts> CostLearner::learn(const Measure& measure,
                                            const std::function<bool()>& must_stop) {
    bool was_stopped = false;
    const std::optional<StepCosts> learnt = measure([&] { return was_stopped = must_stop(); });
    if (learnt) {
        keep_step_costs(folder_, key_, *learnt);
        note(*learnt);
    } else if (!was_stopped) {
        is_wanted_ = false;  // steps cannot be measured here
    }
    return learnt;
}

void CostLearner::note(const StepCosts& costs) {
    is_wanted_ = false;
    const std::lock_guard lock(mutex_);
    costs_ = costs;
}

std::optional<StepCosts> CostLearner::costs() const {
    const std::lock_guard lock(mutex_);
    return costs_;
}

}  // namespace kvik
