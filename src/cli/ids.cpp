#include "cli/ids.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/json.h"
#include "cli/line_reader.h"

namespace kvik::cli {
namespace {

constexpr WholeRange kIds = {0, INT32_MAX};

bool is_json_list(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(" \t"), text.size())).starts_with('[');
}

// As it is written, the beginning of it where it is long.
std::string shown(const Json& value) {
    constexpr size_t kLongest = 40;
    std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    return text.size() > kLongest ? text.substr(0, kLongest) + "..." : text;
}

}  // namespace

Result<std::vector<TokenId>> parse_id_words(std::string_view text) {
    if (is_json_list(text)) return parse_json_ids(text, "the list");
    std::vector<TokenId> ids;
    while (true) {
        text.remove_prefix(std::min(text.find_first_not_of(", \t\r\n"), text.size()));
        if (text.empty()) return ids;
        const std::string_view word = text.substr(0, text.find_first_of(", \t\r\n"));
        KVIK_TRY(const uint64_t id, parse_whole(word, kIds));
        ids.push_back(static_cast<TokenId>(id));
        text.remove_prefix(word.size());
    }
}

Result<std::vector<TokenId>> parse_json_ids(std::string_view json, std::string_view what) {
    KVIK_TRY(const Json list, parse_json(json, what));
    if (!list.is_array())
        return fail(ErrorKind::usage, fmt::format("{} is not a JSON list of token ids", what));
    std::vector<TokenId> ids;
    ids.reserve(list.size());
    for (const Json& value : list) {
        const bool whole = value.is_number_unsigned();
        if (!whole || value.get<uint64_t>() > kIds.max)
            return fail(ErrorKind::usage, fmt::format("{}: element {} is {}, not a token id", what,
                                                      ids.size(), shown(value)));
        ids.push_back(static_cast<TokenId>(value.get<uint64_t>()));
    }
    return ids;
}

Result<std::vector<TokenId>> parse_ids(std::string_view text) {
    std::vector<TokenId> ids;
    if (!text.empty() && text.front() == '@') {
        const std::string path(text.substr(1));
        KVIK_TRY(const std::string json, read_file(path));
        KVIK_TRY(ids, parse_json_ids(json, path));
    } else if (is_json_list(text)) {
        KVIK_TRY(ids, parse_json_ids(text, "the list"));
    } else {
        for (const std::string_view part : split(text, ',')) {
            KVIK_TRY(const uint64_t id, parse_whole(part, kIds));
            ids.push_back(static_cast<TokenId>(id));
        }
    }
    if (ids.empty())
        return fail(ErrorKind::usage, fmt::format("{} holds no token id: give one at least", text));
    return ids;
}

Setter into_ids(std::optional<std::vector<TokenId>>& target) {
    return [&target](std::string_view text) -> Result<void> {
        KVIK_TRY(target, parse_ids(text));
        return {};
    };
}

// Not waiting for the writer of a FIFO: the reader waits, and it sees Ctrl-C.
Result<std::string> read_file(const std::string& path, Interrupts* interrupts) {
    const bool is_stdin = path == "-";
    const int fd =
        is_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return fail(ErrorKind::file, fmt::format("{}: {}", path, std::strerror(errno)));
    std::string text;
    const auto got = LineReader(fd, interrupts).rest(text);
    if (!is_stdin) ::close(fd);
    if (!got && is_stdin) return tl::unexpected(got.error());
    if (!got) return fail(got.error().kind, fmt::format("{}: {}", path, got.error().message));
    if (*got == LineReader::Got::interrupt) return fail(ErrorKind::cancelled, "interrupted");
    return text;
}

}  // namespace kvik::cli
