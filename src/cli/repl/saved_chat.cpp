#include "cli/repl/saved_chat.h"

#include <fmt/format.h>

#include "cli/json.h"
#include "formats/json.h"

namespace kvik::cli {
namespace {

constexpr int kVersion = 1;

tl::unexpected<Error> wrong(const std::string& file, const std::string& what) {
    return fail(ErrorKind::file, fmt::format("{}: {}", file, what));
}

// A number as the settings show it, so that 0.7 is not written 0.699999988.
Json settings_json(const ChatSettings& settings) {
    Json all = Json::object();
    for (const Setting& setting : all_settings()) {
        const std::string text = setting.describe(settings);
        Json number = Json::parse(text, nullptr, false);
        all[std::string(setting.name)] = number.is_number() ? number : Json(text);
    }
    all["stop"] = settings.answer.stop;
    return all;
}

Result<void> read_setting(ChatSettings& settings, const std::string& name,
                          const nlohmann::json& value) {
    if (name == "stop") {
        if (!value.is_array()) return fail(ErrorKind::usage, "stop: it is not a list");
        settings.answer.stop.clear();
        for (const auto& stop : value) {
            if (!stop.is_string() || stop.get_ref<const std::string&>().empty())
                return fail(ErrorKind::usage, "stop: it holds something else than texts");
            settings.answer.stop.push_back(stop);
        }
        if (settings.answer.stop.size() <= 16) return {};
        return fail(ErrorKind::usage, "stop: at most 16 texts are allowed");
    }
    if (value.is_string()) return set(settings, name, value.get_ref<const std::string&>());
    if (value.is_number()) return set(settings, name, value.dump());
    return fail(ErrorKind::usage, fmt::format("{}: neither a number nor a text", name));
}

Result<ChatSettings> read_settings(const nlohmann::json& object, const std::string& file,
                                   ChatSettings settings) {
    if (!object.is_object()) return wrong(file, "settings is not an object");
    for (const auto& [name, value] : object.items()) {
        const auto done = read_setting(settings, name, value);
        if (!done) return wrong(file, "settings." + done.error().message);
    }
    return settings;
}

Result<std::vector<ChatMessage>> read_messages(const nlohmann::json& list,
                                               const std::string& file) {
    if (!list.is_array()) return wrong(file, "messages is not a list");
    std::vector<ChatMessage> messages;
    for (const auto& item : list) {
        const std::string place = fmt::format("messages[{}]", messages.size());
        if (!item.is_object()) return wrong(file, place + " is not an object");
        ChatMessage message;
        for (const auto& [key, value] : item.items()) {
            if (key != "role" && key != "content")
                return wrong(file,
                             fmt::format("{}.{} is not available in this version", place, key));
            if (!value.is_string())
                return wrong(file, fmt::format("{}.{} is not a string", place, key));
            (key == "role" ? message.role : message.content) = value;
        }
        const bool may_be_system = messages.empty() && message.role == "system";
        if (!may_be_system && message.role != "user" && message.role != "assistant")
            return wrong(file, fmt::format("{}.role is '{}': it must be user or assistant, or "
                                           "system in the first message",
                                           place, message.role));
        messages.push_back(std::move(message));
    }
    return messages;
}

}  // namespace

std::string to_json(const SavedChat& chat) {
    Json file = {{"kvik_chat", kVersion}, {"model", chat.model}};
    if (chat.settings) file["settings"] = settings_json(*chat.settings);
    Json& messages = file["messages"] = Json::array();
    for (const ChatMessage& message : chat.messages)
        messages.push_back({{"role", message.role}, {"content", message.content}});
    return file.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<SavedChat> from_json(std::string_view json, const std::string& file,
                            const ChatSettings& defaults) {
    KVIK_TRY(const nlohmann::json root, kvik::parse_json(json, file));
    SavedChat chat;
    if (root.is_array()) {
        KVIK_TRY(chat.messages, read_messages(root, file));
        return chat;
    }
    const bool is_chat = root.is_object() && root.contains("kvik_chat");
    if (!is_chat) return wrong(file, "it is no saved chat (kvik_chat is missing)");
    if (root["kvik_chat"] != kVersion)
        return fail(
            ErrorKind::unsupported,
            fmt::format("{}: kvik_chat is not {}: a later version wrote it", file, kVersion));
    if (root.contains("model") && root["model"].is_string()) chat.model = root["model"];
    if (!root.contains("messages")) return wrong(file, "messages is missing");
    KVIK_TRY(chat.messages, read_messages(root["messages"], file));
    if (root.contains("settings")) {
        KVIK_TRY(chat.settings, read_settings(root["settings"], file, defaults));
    }
    return chat;
}

}  // namespace kvik::cli
