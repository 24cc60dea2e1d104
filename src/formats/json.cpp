#include "formats/json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "formats/byte_cursor.h"

namespace kvik {

namespace {

using Json = nlohmann::json;

// Builds the tree from the parser's events; false stops it. The parser's own builder would let a
// later key replace an earlier one.
class TreeBuilder final : public nlohmann::json_sax<Json> {
  public:
    explicit TreeBuilder(Json& root) : root_(root) {}

    bool null() override { return put(nullptr); }
    bool boolean(bool value) override { return put(value); }
    bool number_integer(number_integer_t value) override { return put(value); }
    bool number_unsigned(number_unsigned_t value) override { return put(value); }
    bool number_float(number_float_t value, const string_t& /*text*/) override {
        return put(value);
    }
    bool string(string_t& value) override { return put(std::move(value)); }
    bool binary(binary_t& /*value*/) override { return stop("holds binary data"); }
    bool start_object(std::size_t /*n*/) override { return open(Json::object()); }
    bool start_array(std::size_t /*n*/) override { return open(Json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& name) override {
        if (open_.back()->contains(name))
            return stop(fmt::format("has the key {} twice in one object", in_quotes(name)));
        key_ = std::move(name);
        return true;
    }
    bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                     const nlohmann::detail::exception& /*error*/) override {
        return stop("is not valid JSON in UTF-8");
    }

    std::string problem;

  private:
    bool put(Json value) {
        place(std::move(value));
        return true;
    }
    Json& place(Json&& value) {
        if (open_.empty()) return root_ = std::move(value);
        Json& parent = *open_.back();
        if (parent.is_object()) return parent[key_] = std::move(value);
        parent.push_back(std::move(value));
        return parent.back();
    }
    bool open(Json&& value) {
        if (open_.size() == kMaxJsonDepth)
            return stop(fmt::format("is nested deeper than {} levels", kMaxJsonDepth));
        open_.push_back(&place(std::move(value)));
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }
    bool stop(std::string what) {
        problem = std::move(what);
        return false;
    }

    Json& root_;
    std::vector<Json*> open_;  // objects and arrays that are not ended, outermost first
    std::string key_;
};

}  // namespace

Result<Json> parse_json(std::string_view text, const std::string& file) {
    Json root;
    TreeBuilder builder(root);
    // The parser would take a NUL for the end and not look behind it.
    if (const size_t nul = text.find('\0'); nul != text.npos)
        return fail(ErrorKind::file,
                    fmt::format("{}: has a NUL at byte {}: fetch or convert it again", file, nul));
    const char* read = text.data();
    const char* end = text.data() + text.size();
    if (Json::sax_parse(TellingIterator{read, &read}, TellingIterator{end, &read}, &builder))
        return root;
    return fail(ErrorKind::file, fmt::format("{}: {} before byte {}: fetch or convert it again",
                                             file, builder.problem, read - text.data()));
}

}  // namespace kvik
