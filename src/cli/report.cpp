#include "cli/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/json.h"
#include "cli/terminal.h"

namespace kvik::cli {
namespace {

std::string_view kind_name(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::failed:
            return "failed";
        case ErrorKind::usage:
            return "usage";
        case ErrorKind::file:
            return "file";
        case ErrorKind::memory:
            return "memory";
        case ErrorKind::port:
            return "port";
        case ErrorKind::unsupported:
            return "unsupported";
        case ErrorKind::context:
            return "context";
        case ErrorKind::cancelled:
            return "cancelled";
    }
    return "failed";
}

}  // namespace

std::string describe_error(const Error& error, ErrorFormat format) {
    if (format == ErrorFormat::json)
        return to_line({{"error",
                         {{"kind", kind_name(error.kind)},
                          {"code", static_cast<int>(error.kind)},
                          {"message", error.message}}}});
    std::string message = error.message;
    std::replace(message.begin(), message.end(), '\n', ' ');
    return fmt::format("kvik: {}\n", printable(message));
}

int report(const Error& error, ErrorFormat format) {
    if (is_reader_gone(error)) return kReaderGoneExit;
    note(describe_error(error, format));
    return static_cast<int>(error.kind);
}

}  // namespace kvik::cli
