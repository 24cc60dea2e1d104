#include "cli/pull_model.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "cli/progress_line.h"
#include "cli/terminal.h"
#include "hub/files.h"
#include "hub/places.h"

namespace kvik::cli {
namespace {

constexpr const char* kEndpoint = "https://huggingface.co";
constexpr double kWindow_s = 5;
constexpr size_t kMostTokenBytes = 4096;

using Clock = std::chrono::steady_clock;

// As Hugging Face's own programs look for it.
std::string token_of(const Environment& environment, const hub::Places& places) {
    for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"})
        if (const auto token = hub::value_of(environment, name)) return *token;
    if (hub::is_true(environment, "HF_HUB_DISABLE_IMPLICIT_TOKEN")) return "";
    if (places.hf_token_file.empty()) return "";
    std::string token = hub::read_small_file(places.hf_token_file, kMostTokenBytes).value_or("");
    const auto is_blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
    while (!token.empty() && is_blank(token.back())) token.pop_back();
    while (!token.empty() && is_blank(token.front())) token.erase(0, 1);
    return token;
}

std::string ca_file_of(const Environment& environment) {
    for (const char* name : {"CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"})
        if (const auto file = hub::value_of(environment, name)) return *file;
    return "";
}

// A peer that goes away is an error of the connection, not the end of the program.
class NoBrokenPipes {
  public:
    NoBrokenPipes() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
    ~NoBrokenPipes() { std::signal(SIGPIPE, before_); }
    NoBrokenPipes(const NoBrokenPipes&) = delete;
    NoBrokenPipes& operator=(const NoBrokenPipes&) = delete;

  private:
    void (*before_)(int);
};

// The progress of all files: a line that is drawn over on a terminal, else a line for each file.
class PullBar {
  public:
    void update(const hub::PullProgress& progress) {
        const std::chrono::duration<double> now = Clock::now() - start_;
        rate_.add(now.count(), progress.fetched_bytes);
        if (!line_.is_shown()) {
            if (file_ != progress.file)
                note(fmt::format("kvik: fetching {}\n", printable(progress.file)));
            file_ = progress.file;
            return;
        }
        if (now.count() < next_s_) return;
        next_s_ = now.count() + 0.1;
        line_.draw(progress_text(progress, rate_.bytes_per_s(), columns_of(STDERR_FILENO) - 1));
    }
    void tell(const std::string& text) {
        line_.clear();
        note("kvik: " + printable(text) + "\n");
    }
    void clear() { line_.clear(); }

  private:
    ProgressLine line_;
    FetchRate rate_;
    std::string file_;
    Clock::time_point start_ = Clock::now();
    double next_s_ = 0;
};

}  // namespace

void FetchRate::add(double now_s, uint64_t fetched_bytes) {
    samples_.emplace_back(now_s, fetched_bytes);
    while (samples_.size() > 2 && samples_.front().first < now_s - kWindow_s) samples_.pop_front();
    // Pieces may come a thousand times a second: ten samples a second are enough.
    if (samples_.size() > 2 && now_s - samples_[samples_.size() - 3].first < 0.1)
        samples_.erase(samples_.end() - 2);
}

double FetchRate::bytes_per_s() const {
    if (samples_.size() < 2) return 0;
    const double seconds = samples_.back().first - samples_.front().first;
    const auto bytes = static_cast<double>(samples_.back().second - samples_.front().second);
    return seconds > 0.2 ? bytes / seconds : 0;
}

static std::string time_left(double seconds) {
    const auto whole = static_cast<uint64_t>(seconds);
    if (whole < 120) return fmt::format("{} s left", whole);
    if (whole < 7200) return fmt::format("{} min left", whole / 60);
    return fmt::format("{} h left", whole / 3600);
}

std::string progress_text(const hub::PullProgress& progress, double bytes_per_s,
                          uint32_t n_columns) {
    const auto done = static_cast<double>(progress.done_bytes);
    const auto total = static_cast<double>(progress.total_bytes);
    const std::string name =
        fmt::format("{}{}  ", progress.is_check ? "reading the part that is here, " : "",
                    printable(progress.file));
    const std::string percent = fmt::format("{:.0f} %", total > 0 ? done / total * 100 : 100);
    const std::string size = fmt::format("  {:.2f} of {:.2f} GB", done / 1e9, total / 1e9);
    std::string speed, left;
    if (!progress.is_check && bytes_per_s > 0) {
        speed = fmt::format("  {:.1f} MB/s", bytes_per_s / 1e6);
        left = "  " + time_left((total - done) / bytes_per_s);
    }
    for (const std::string& text : {name + percent + size + speed + left, name + percent + left,
                                    percent + size + left, percent + left})
        if (text.size() <= n_columns) return text;
    return percent;
}

std::string offline_by(bool has_flag, const Environment& environment) {
    if (has_flag) return "--offline (KVIK_OFFLINE)";
    for (const char* name : {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"})
        if (hub::is_true(environment, name)) return name;
    return "";
}

Result<hub::PulledModel> pull_model(const PullWish& wish, const Environment& environment,
                                    Interrupts& interrupts) {
    KVIK_TRY(hub::RepoRequest request, hub::parse_repo_request(wish.name));
    if (!wish.revision.empty()) {
        if (!hub::is_safe_revision(wish.revision) || !request.revision.empty())
            return fail(ErrorKind::usage,
                        "--revision is no branch, tag or commit, or there is one after @ as well");
        request.revision = wish.revision;
    }
    if (const std::string who = offline_by(wish.offline, environment); !who.empty())
        return fail(ErrorKind::usage, fmt::format("{} is fetched over a network, which {} forbids: "
                                                  "kvik list shows what is here",
                                                  wish.name, who));
    const hub::Places places = hub::find_places(environment);
    PullBar bar;
    bool is_interrupted = false;
    hub::PullOptions options{
        .request = std::move(request),
        .cache = places.hf_cache,
        .http = {.endpoint = hub::value_of(environment, "HF_ENDPOINT").value_or(kEndpoint),
                 .token = token_of(environment, places),
                 .ca_file = ca_file_of(environment),
                 .silence_s = wish.silence_s,
                 .stopped = [&] { return is_interrupted = is_interrupted || interrupts.take(); },
                 .wake_fd = interrupts.fd()},
        .progress = [&](const hub::PullProgress& progress) { bar.update(progress); },
        .tell = [&](const std::string& text) { bar.tell(text); }};
    const NoBrokenPipes guard;
    auto pulled = hub::pull(std::move(options));
    bar.clear();
    if (!pulled && pulled.error().kind == ErrorKind::cancelled)
        return fail(ErrorKind::cancelled,
                    "interrupted: what came is kept, the same command goes on with it");
    return pulled;
}

}  // namespace kvik::cli
