#include "formats/json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

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
            return stop(fmt::format("has the key '{}' twice in one object", name.substr(0, 80)));
        key_ = std::move(name);
        return true;
    }
    bool parse_error(std::size_t position, const std::string& /*token*/,
                     const nlohmann::detail::exception& /*error*/) override {
        position_ = position;
        return stop("is not valid JSON");
    }

    std::string problem;
    std::optional<std::size_t> position() const { return position_; }

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
    std::optional<std::size_t> position_;
};

}  // namespace

Result<Json> parse_json(std::string_view text, const std::string& file) {
    Json root;
    TreeBuilder builder(root);
    if (Json::sax_parse(text, &builder)) return root;
    const std::string where =
        builder.position() ? fmt::format(" at byte {}", *builder.position()) : std::string();
    return fail(ErrorKind::file,
                fmt::format("{}{} {}: fetch or convert it again", file, where, builder.problem));
}

}  // namespace kvik
