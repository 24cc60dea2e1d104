#include "text/jinja/strftime.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <optional>

namespace kvik::jinja {
namespace {

constexpr std::array<const char*, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                              "Thursday", "Friday", "Saturday"};
constexpr std::array<const char*, 12> kMonths = {"January",   "February", "March",    "April",
                                                 "May",       "June",     "July",     "August",
                                                 "September", "October",  "November", "December"};

struct Moment {
    int year = 0;
    unsigned month = 1, day = 1, week_day = 0, year_day = 1;
    int64_t hour = 0, minute = 0, second = 0;
};

Moment moment_of(int64_t seconds) {
    using namespace std::chrono;
    constexpr int64_t kDay = 86400;
    const int64_t in_day = ((seconds % kDay) + kDay) % kDay;
    const sys_days date{days{(seconds - in_day) / kDay}};
    const year_month_day ymd{date};
    Moment m;
    m.year = static_cast<int>(ymd.year());
    m.month = static_cast<unsigned>(ymd.month());
    m.day = static_cast<unsigned>(ymd.day());
    m.week_day = weekday{date}.c_encoding();
    const sys_days new_year{ymd.year() / January / 1};
    m.year_day = static_cast<unsigned>((date - new_year).count()) + 1;
    m.hour = in_day / 3600;
    m.minute = in_day / 60 % 60;
    m.second = in_day % 60;
    return m;
}

// A number with its usual width and fill, either of which a flag may change.
std::string padded(int64_t number, int width, char fill, char flag) {
    if (flag == '-') width = 0;
    if (flag == '_') fill = ' ';
    if (flag == '0') fill = '0';
    return fill == '0' ? fmt::format("{:0{}}", number, width) : fmt::format("{:{}}", number, width);
}

// What a letter stands for; nothing when it stands for nothing.
std::optional<std::string> meaning(const Moment& m, char letter, char flag) {
    const auto two = [&](int64_t n) { return padded(n, 2, '0', flag); };
    const int64_t hour12 = m.hour % 12 == 0 ? 12 : m.hour % 12;
    switch (letter) {
        case 'a':
            return std::string(kDays[m.week_day], 3);
        case 'A':
            return kDays[m.week_day];
        case 'b':
        case 'h':
            return std::string(kMonths[m.month - 1], 3);
        case 'B':
            return kMonths[m.month - 1];
        case 'd':
            return two(m.day);
        case 'e':
            return padded(m.day, 2, ' ', flag);
        case 'H':
            return two(m.hour);
        case 'I':
            return two(hour12);
        case 'j':
            return padded(m.year_day, 3, '0', flag);
        case 'm':
            return two(m.month);
        case 'M':
            return two(m.minute);
        case 'n':
            return "\n";
        case 'p':
            return m.hour < 12 ? "AM" : "PM";
        case 'S':
            return two(m.second);
        case 't':
            return "\t";
        case 'u':
            return fmt::format("{}", m.week_day == 0 ? 7 : m.week_day);
        case 'w':
            return fmt::format("{}", m.week_day);
        case 'y':
            return two(m.year % 100);
        case 'Y':
            return fmt::format("{}", m.year);
        case 'z':
        case 'Z':
            return "";
        case '%':
            return "%";
        default:
            return std::nullopt;
    }
}

// The letters that stand for a format of their own.
std::string_view composite(char letter) {
    switch (letter) {
        case 'c':
            return "%a %b %e %H:%M:%S %Y";
        case 'D':
        case 'x':
            return "%m/%d/%y";
        case 'F':
            return "%Y-%m-%d";
        case 'R':
            return "%H:%M";
        case 'T':
        case 'X':
            return "%H:%M:%S";
        default:
            return {};
    }
}

Result<void> add_time(const Moment& m, std::string_view format, std::string& out) {
    for (size_t at = 0; at < format.size(); ++at) {
        if (format[at] != '%') {
            out += format[at];
            continue;
        }
        char flag = 0;
        if (at + 1 < format.size() && std::string_view("-_0").find(format[at + 1]) != format.npos) {
            flag = format[++at];
        }
        const char letter = at + 1 < format.size() ? format[++at] : '\0';
        if (const std::string_view whole = composite(letter); !whole.empty()) {
            KVIK_TRY_VOID(add_time(m, whole, out));  // those hold no composite
            continue;
        }
        const std::optional<std::string> text = meaning(m, letter, flag);
        if (!text) {
            return fail(ErrorKind::failed,
                        fmt::format("strftime_now does not know '%{}'",
                                    letter ? std::string_view(&letter, 1) : "at the end"));
        }
        out += *text;
    }
    return {};
}

}  // namespace

Result<std::string> format_time(int64_t seconds, std::string_view format) {
    constexpr int64_t kFarthest = 250'000'000'000;  // about the year 9892
    if (seconds < -kFarthest / 5 || seconds > kFarthest) {
        return fail(ErrorKind::failed, "strftime_now: the time is outside the years 400 to 9892");
    }
    std::string out;
    KVIK_TRY_VOID(add_time(moment_of(seconds), format, out));
    return out;
}

}  // namespace kvik::jinja
