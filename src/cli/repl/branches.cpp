#include "cli/repl/branches.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/suggest.h"

namespace kvik::cli {
namespace {

constexpr size_t kMostBranches = 1000;

bool is_name(std::string_view name) {
    return name != "-" && name.size() <= 40 && std::all_of(name.begin(), name.end(), [](char c) {
               return static_cast<unsigned char>(c) > ' ' && c != 0x7f;
           });
}

}  // namespace

Branches::Branches(Engine& engine) {
    all_.push_back({.name = "main", .from = "", .talk = Conversation(Session(engine))});
}

bool Branches::is_taken(std::string_view name) const {
    return std::any_of(all_.begin(), all_.end(),
                       [&](const Branch& branch) { return branch.name == name; });
}

Result<void> Branches::fork(std::string_view name, size_t n_messages) {
    if (all_.size() >= kMostBranches)
        return fail(ErrorKind::usage,
                    fmt::format("there are {} branches, and no more than that", kMostBranches));
    if (!is_name(name))
        return fail(ErrorKind::usage, "the name of a branch has no blanks and 40 letters at most");
    std::string chosen(name);
    for (size_t n = all_.size() + 1; chosen.empty() || (name.empty() && is_taken(chosen)); ++n)
        chosen = fmt::format("fork{}", n);
    if (is_taken(chosen))
        return fail(
            ErrorKind::usage,
            fmt::format("there is a branch {} already: /branch {} goes there", chosen, chosen));
    Session copy = session().fork(n_messages);
    const size_t n_shared = copy.messages().size();
    all_.push_back({.name = std::move(chosen),
                    .from = current().name,
                    .n_shared = n_shared,
                    .talk = Conversation(std::move(copy))});
    last_ = std::exchange(current_, all_.size() - 1);
    return {};
}

Result<void> Branches::go(std::string_view name) {
    if (name == "-") {
        std::swap(last_, current_);
        return {};
    }
    std::vector<std::string> names;
    for (size_t i = 0; i < all_.size(); ++i) {
        names.push_back(all_[i].name);
        if (all_[i].name != name) continue;
        if (i != current_) last_ = std::exchange(current_, i);
        return {};
    }
    const auto meant = nearest(name, names);
    return fail(ErrorKind::usage,
                fmt::format("there is no branch {}: {}", name,
                            meant ? fmt::format("did you mean {}?", *meant)
                                  : fmt::format("there are {}", fmt::join(names, ", "))));
}

}  // namespace kvik::cli
