#include "cli/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/suggest.h"

namespace kvik::cli {
namespace {

// Named in the documentation for later: an answer better than "did you mean".
constexpr std::array<std::string_view, 7> kLater = {"--k",         "--verify", "--n",    "--beams",
                                                    "--cache-dir", "--evict",  "--check"};

tl::unexpected<Error> at(std::string_view where, Error error) {
    error.message = fmt::format("{}: {}", where, error.message);
    return tl::unexpected(std::move(error));
}

std::string left_column(const Flag& flag) {
    return flag.value.empty() ? flag.name : flag.name + " " + flag.value;
}

}  // namespace

Flags::Flags(std::string verb, std::string summary)
    : verb_(std::move(verb)), summary_(std::move(summary)) {}

void Flags::heading(std::string title) {
    heading_ = std::move(title);
}
void Flags::add(Flag flag) {
    entries_.push_back({std::move(flag), heading_});
}
void Flags::argument(Positional positional) {
    positionals_.push_back(std::move(positional));
}
void Flags::epilogue(std::string text) {
    epilogue_ = std::move(text);
}

const Flag* Flags::find(std::string_view name) const {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& entry) { return entry.flag.name == name; });
    return found == entries_.end() ? nullptr : &found->flag;
}

Error Flags::unknown(std::string_view name) const {
    if (std::find(kLater.begin(), kLater.end(), name) != kLater.end())
        return {ErrorKind::unsupported, fmt::format("{} is not available in this version", name)};
    std::vector<std::string> names;
    for (const Entry& entry : entries_) names.push_back(entry.flag.name);
    const auto meant = nearest(name, names);
    const std::string hint =
        meant ? fmt::format("did you mean {}?", *meant) : fmt::format("see kvik {} --help", verb_);
    return {ErrorKind::usage, fmt::format("{} has no flag {}: {}", verb_, name, hint)};
}

Result<void> Flags::place(std::string_view text, size_t index) const {
    if (index >= positionals_.size())
        return fail(ErrorKind::usage,
                    fmt::format("unexpected argument '{}' (quote a text of several words)", text));
    auto set = positionals_[index].set(text);
    if (!set) return at(positionals_[index].name, std::move(set).error());
    return {};
}

Result<void> Flags::read_environment(const std::vector<std::string_view>& given,
                                     const Environment& environment) const {
    for (const Entry& entry : entries_) {
        const Flag& flag = entry.flag;
        if (flag.variable.empty()) continue;
        if (std::find(given.begin(), given.end(), flag.name) != given.end()) continue;
        const auto value = environment(flag.variable);
        if (!value || value->empty()) continue;
        auto set = flag.set(*value);
        if (!set) return at(flag.variable, std::move(set).error());
    }
    return {};
}

Result<Parsed> Flags::parse(std::span<const std::string> args,
                            const Environment& environment) const {
    std::vector<std::string_view> given;
    size_t n_positionals = 0;
    bool flags_over = false;
    for (size_t i = 0; i < args.size(); ++i) {
        const std::string_view arg = args[i];
        if (flags_over || arg.size() < 2 || arg[0] != '-') {
            KVIK_TRY_VOID(place(arg, n_positionals++));
            continue;
        }
        if (arg == "--") {
            flags_over = true;
            continue;
        }
        if (arg == "--help" || arg == "-h") return Parsed::help;
        const size_t equals = arg.find('=');
        const bool joined = equals != std::string_view::npos;
        const std::string_view name = arg.substr(0, equals);
        const Flag* flag = find(name);
        if (flag == nullptr) return tl::unexpected(unknown(name));
        if (flag->times == Times::once &&
            std::find(given.begin(), given.end(), name) != given.end())
            return fail(ErrorKind::usage, fmt::format("{} is given twice", name));
        given.push_back(flag->name);
        std::string_view value;
        if (flag->value.empty()) {
            if (joined) return fail(ErrorKind::usage, fmt::format("{} takes no value", name));
        } else if (joined) {
            value = arg.substr(equals + 1);
        } else {
            const bool missing = i + 1 == args.size() || find(args[i + 1]) != nullptr;
            if (missing)
                return fail(ErrorKind::usage,
                            fmt::format("{} needs a value: {}", name, left_column(*flag)));
            value = args[++i];
        }
        auto set = flag->set(value);
        if (!set) return at(name, std::move(set).error());
    }
    for (size_t i = n_positionals; i < positionals_.size(); ++i)
        if (positionals_[i].presence == Presence::required)
            return fail(ErrorKind::usage, fmt::format("{} is missing: see kvik {} --help",
                                                      positionals_[i].name, verb_));
    KVIK_TRY_VOID(read_environment(given, environment));
    return Parsed::ready;
}

std::string Flags::help() const {
    std::string text = fmt::format("kvik {}", verb_);
    size_t width = 0;
    for (const Positional& p : positionals_) {
        text += p.presence == Presence::required ? " " + p.name : fmt::format(" [{}]", p.name);
        width = std::max(width, p.name.size());
    }
    text += fmt::format(" [flags]\n{}\n\n", summary_);
    for (const Entry& entry : entries_) width = std::max(width, left_column(entry.flag).size());
    const auto line = [&](std::string_view left, std::string_view right) {
        for (const std::string_view part : split(right, '\n')) {
            text += fmt::format("  {:<{}}  {}\n", left, width, part);
            left = {};
        }
    };
    for (const Positional& p : positionals_) line(p.name, p.help);
    std::string_view heading;
    for (const Entry& entry : entries_) {
        if (entry.heading != heading) text += fmt::format("\n{}\n", entry.heading);
        heading = entry.heading;
        const std::string& variable = entry.flag.variable;
        line(left_column(entry.flag), variable.empty()
                                          ? entry.flag.help
                                          : fmt::format("{} [{}]", entry.flag.help, variable));
    }
    if (!epilogue_.empty()) text += "\n" + epilogue_;
    return text;
}

}  // namespace kvik::cli
