#include "engine/stop_text.h"

#include <algorithm>
#include <utility>

namespace kvik {

// Bytes at the end of `text` that are the beginning of `stop`, but not all of it.
static size_t begun(std::string_view text, std::string_view stop) {
    for (size_t n = std::min(text.size(), stop.size() - 1); n > 0; --n) {
        if (text.ends_with(stop.substr(0, n))) return n;
    }
    return 0;
}

StopText::StopText(std::vector<std::string> stops) : stops_(std::move(stops)) {}

std::string StopText::release(size_t n_bytes) {
    std::string text = held_.substr(0, n_bytes);
    held_.erase(0, n_bytes);
    n_certain_bytes_ += n_bytes;
    return text;
}

std::string StopText::push(std::string_view text) {
    if (hit_) return {};
    if (stops_.empty()) {
        n_certain_bytes_ += text.size();
        return std::string(text);
    }
    held_ += text;
    std::pair<size_t, size_t> first = {SIZE_MAX, SIZE_MAX};  // end and begin of the stop string
    size_t n_begun = 0;
    for (const std::string& stop : stops_) {
        if (const size_t at = held_.find(stop); at != std::string::npos) {
            first = std::min(first, {at + stop.size(), at});
        }
        n_begun = std::max(n_begun, begun(held_, stop));
    }
    if (first.first == SIZE_MAX) return release(held_.size() - n_begun);
    hit_ = true;
    std::string certain = release(first.second);
    held_.clear();
    return certain;
}

std::string StopText::finish() {
    return release(held_.size());
}

}  // namespace kvik
