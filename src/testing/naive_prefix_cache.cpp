// The entries of the naive tree, and how they are found and published.
#include "testing/naive_prefix_cache.h"

#include <algorithm>

namespace kvik {

// ---- entries ----

uint32_t NaivePrefixCache::block_index_of(const Entry& entry) const {
    return static_cast<uint32_t>((entry.path.size() - 1) / options_.shape.block_tokens);
}

size_t NaivePrefixCache::begin_of(const Entry& entry) const {
    return size_t{block_index_of(entry)} * options_.shape.block_tokens;
}

NaiveTokens NaivePrefixCache::above(const Entry& entry) const {
    return first_tokens(entry.path, begin_of(entry));
}

bool NaivePrefixCache::is_below(const Entry& entry, const Entry& above) const {
    return entry.ns == above.ns && block_index_of(entry) > block_index_of(above) &&
           above.path.size() % options_.shape.block_tokens == 0 && begins(above.path, entry.path);
}

NaivePrefixCache::Entry* NaivePrefixCache::by_id(uint64_t id) {
    for (Entry& entry : entries_)
        if (entry.id == id) return &entry;
    return nullptr;
}

void NaivePrefixCache::erase(uint64_t id) {
    std::erase_if(entries_, [id](const Entry& entry) { return entry.id == id; });
    forget_uncovered_logits();
}

// The least entry of the path's last logical block that begins with all of the path.
NaivePrefixCache::Entry* NaivePrefixCache::covering(uint32_t ns, const NaiveTokens& path,
                                                    Kind kind) {
    Entry* best = nullptr;
    for (Entry& entry : entries_)
        if (entry.ns == ns && entry.is_resident == (kind == Kind::resident) &&
            begin_of(entry) ==
                (path.size() - 1) / options_.shape.block_tokens * options_.shape.block_tokens &&
            begins(path, entry.path) && (!best || entry.path < best->path))
            best = &entry;
    return best;
}

// The entry of the path's last logical block that the path begins with.
NaivePrefixCache::Entry* NaivePrefixCache::beginning(uint32_t ns, const NaiveTokens& path,
                                                     Kind kind) {
    for (Entry& entry : entries_)
        if (entry.ns == ns && entry.is_resident == (kind == Kind::resident) &&
            begin_of(entry) ==
                (path.size() - 1) / options_.shape.block_tokens * options_.shape.block_tokens &&
            begins(entry.path, path))
            return &entry;
    return nullptr;
}

// ---- finding ----

// Among the entries of one logical block that share the most tokens, and at least one token of that
// logical block, the tree takes the nearest in order, the one above first.
const NaivePrefixCache::Entry* NaivePrefixCache::best_entry(uint32_t ns, const NaiveTokens& tokens,
                                                            size_t block_index, Kind kind) const {
    const size_t size = options_.shape.block_tokens;
    const NaiveTokens asked = first_tokens(tokens, (block_index + 1) * size);
    const Entry* best = nullptr;
    for (const Entry& entry : entries_) {
        if (entry.ns != ns || block_index_of(entry) != block_index) continue;
        if (entry.is_resident != (kind == Kind::resident)) continue;
        const size_t n = n_common(entry.path, asked);
        if (n <= block_index * size) continue;
        const size_t n_best = best ? n_common(best->path, asked) : 0;
        if (n < n_best) continue;
        const bool above = entry.path >= asked, best_above = best && best->path >= asked;
        const bool nearer = !best || n > n_best || (above && !best_above) ||
                            (above && best_above && entry.path < best->path) ||
                            (!above && !best_above && entry.path > best->path);
        if (nearer) best = &entry;
    }
    return best;
}

uint32_t NaivePrefixCache::n_matched(const Path& path, const NaiveTokens& tokens) const {
    return path.empty() ? 0 : static_cast<uint32_t>(n_common(path.back()->path, tokens));
}

NaivePrefixCache::Path NaivePrefixCache::walk_resident(uint32_t ns,
                                                       const NaiveTokens& tokens) const {
    Path path;
    for (size_t i = 0; i * options_.shape.block_tokens < tokens.size(); ++i) {
        const Entry* entry = best_entry(ns, tokens, i, Kind::resident);
        if (!entry) break;
        path.push_back(entry);
        if (n_common(entry->path, tokens) < (i + 1) * options_.shape.block_tokens) break;
    }
    return path;
}

NaivePrefixCache::Path NaivePrefixCache::walk_on_offloaded(uint32_t ns, const NaiveTokens& tokens,
                                                           Path path) const {
    if (n_matched(path, tokens) % options_.shape.block_tokens != 0) path.pop_back();
    for (size_t i = path.size(); i * options_.shape.block_tokens < tokens.size(); ++i) {
        const Entry* entry = best_entry(ns, tokens, i, Kind::offloaded);
        if (!entry) break;
        path.push_back(entry);
        if (n_common(entry->path, tokens) < (i + 1) * options_.shape.block_tokens) break;
    }
    return path;
}

uint32_t NaivePrefixCache::n_rows(const Entry& entry, uint32_t group, State state) const {
    const uint32_t in_ram = entry.is_resident ? entry.groups[group].n_rows : 0;
    if (state == State::in_ram || (entry.tier.group_mask >> group & 1) == 0) return in_ram;
    return std::max(in_ram, entry.tier.n_tokens);
}

bool NaivePrefixCache::is_usable(const Path& path, uint32_t n_tokens, State state) const {
    const uint32_t size = options_.shape.block_tokens;
    const uint32_t last = (n_tokens - 1) / size;
    for (uint32_t g = 0; g < options_.shape.n_groups(); ++g)
        for (uint32_t i = std::min(options_.shape.first_block(g, n_tokens), last); i <= last; ++i)
            if (n_rows(*path[i], g, state) < std::min(size, n_tokens - i * size)) return false;
    return true;
}

uint32_t NaivePrefixCache::usable_tokens(const Path& path, const NaiveTokens& tokens,
                                         State state) const {
    for (uint32_t n = n_matched(path, tokens); n > 0; --n)
        if (is_usable(path, n, state)) return n;
    return 0;
}

// The same path, or with another end of the same logical block whose windows reach further.
NaivePrefixCache::Path NaivePrefixCache::beside(const Path& path, const NaiveTokens& tokens) const {
    const uint32_t usable = usable_tokens(path, tokens, State::in_ram);
    if (usable == n_matched(path, tokens)) return path;
    const Entry* best = nullptr;
    size_t most_rows = 0;
    for (const Entry& entry : entries_) {
        if (!entry.is_resident || entry.ns != path.back()->ns) continue;
        if (above(entry) != above(*path.back())) continue;
        size_t rows = n_common(entry.path, tokens) - begin_of(entry);
        for (uint32_t g = 0; g < options_.shape.n_groups(); ++g)
            rows = std::min<size_t>(rows, entry.groups[g].n_rows);
        const bool is_first = best && rows == most_rows && rows > 0 && entry.path < best->path;
        if (rows > most_rows || is_first) best = &entry, most_rows = rows;
    }
    Path other = path;
    if (best) other.back() = best;
    return best && usable_tokens(other, tokens, State::in_ram) > usable ? other : path;
}

NaiveHit NaivePrefixCache::find(uint32_t ns, const NaiveTokens& tokens) const {
    NaiveHit hit;
    hit.groups.resize(options_.shape.n_groups());
    const Path nearest = walk_resident(ns, tokens);
    const Path path = beside(nearest, tokens);
    hit.n_resident = n_matched(nearest, tokens);
    hit.n_known =
        std::max(hit.n_resident, n_matched(walk_on_offloaded(ns, tokens, nearest), tokens));
    hit.n_tokens = usable_tokens(path, tokens, State::in_ram);
    if (hit.n_tokens == 0) return hit;
    const uint32_t last = (hit.n_tokens - 1) / options_.shape.block_tokens;
    hit.entry = path[last]->id;
    for (uint32_t g = 0; g < hit.groups.size(); ++g) {
        hit.groups[g].first = std::min(options_.shape.first_block(g, hit.n_tokens), last + 1);
        for (uint32_t i = hit.groups[g].first; i <= last; ++i)
            hit.groups[g].blocks.push_back(path[i]->groups[g].ref);
    }
    hit.has_logits = hit.n_tokens == tokens.size() && path == nearest &&
                     std::find(logits_.begin(), logits_.end(), Logits{ns, tokens}) != logits_.end();
    return hit;
}

PathReport NaivePrefixCache::explain(uint32_t ns, const NaiveTokens& tokens) const {
    PathReport report;
    Path path = walk_resident(ns, tokens);
    report.n_usable = usable_tokens(beside(path, tokens), tokens, State::in_ram);
    report.n_resident = report.n_known = n_matched(path, tokens);
    const Path offloaded = walk_on_offloaded(ns, tokens, path);
    if (n_matched(offloaded, tokens) <= report.n_resident) return report;
    report.n_known = n_matched(offloaded, tokens);
    for (size_t at = report.n_resident; at < report.n_known; ++at) {  // token by token
        const Entry& entry = *offloaded[at / options_.shape.block_tokens];
        bool is_on_tier = at - begin_of(entry) < entry.tier.n_tokens;
        for (uint32_t g = 0; g < options_.shape.n_groups(); ++g)
            if (options_.shape.windows[g] == 0) is_on_tier &= entry.tier.group_mask >> g & 1;
        if (!is_on_tier && report.n_evicted == 0) report.evicted_ms = entry.evicted_ms;
        ++(is_on_tier ? report.n_on_tier : report.n_evicted);
    }
    return report;
}

void NaivePrefixCache::touch(uint64_t end, uint64_t n_hits) {
    ++tick_;
    const Entry last = *by_id(end);
    for (Entry& entry : entries_) {
        if (entry.id != end && !is_below(last, entry)) continue;
        entry.last_use = tick_;
        entry.n_uses += n_hits;
        entry.rank =
            eviction_rank(options_.policy,
                          {.last_use = entry.last_use,
                           .inserted = entry.inserted,
                           .n_uses = entry.n_uses,
                           .recompute_ms = static_cast<double>(entry.path.size() - begin_of(entry)),
                           .clock = clock_});
    }
}

void NaivePrefixCache::use(const NaiveHit& hit, uint32_t ns, const NaiveTokens& tokens) {
    const Entry* entry = by_id(hit.entry);
    if (!entry || !entry->is_resident) return;
    touch(hit.entry, 1);
    const auto logits = std::find(logits_.begin(), logits_.end(), Logits{ns, tokens});
    if (hit.has_logits && logits != logits_.end()) std::rotate(logits, logits + 1, logits_.end());
}

// ---- publishing ----

NaiveInsert NaivePrefixCache::insert(uint32_t ns, const NaiveTokens& tokens,
                                     const std::vector<NaiveGroup>& groups, InsertKind kind) {
    NaiveInsert report;
    if (tokens.empty()) return report;
    uint64_t end = 0;
    const size_t size = options_.shape.block_tokens;
    for (size_t i = 0; i * size < tokens.size(); ++i) {
        Offer offer;
        for (const NaiveGroup& group : groups)
            offer.push_back(i >= group.first && i - group.first < group.blocks.size()
                                ? group.blocks[i - group.first]
                                : nullptr);
        end = put(ns, first_tokens(tokens, (i + 1) * size), offer, report);
    }
    touch(end, 0);
    if (kind == InsertKind::boundary) mark(end, tokens.size());
    return report;
}

uint64_t NaivePrefixCache::put(uint32_t ns, const NaiveTokens& path, const Offer& offer,
                               NaiveInsert& report) {
    const size_t size = options_.shape.block_tokens, block_index = (path.size() - 1) / size;
    const auto n_tokens = static_cast<uint32_t>(path.size() - block_index * size);
    if (Entry* covers = covering(ns, path, Kind::resident)) {
        for (uint32_t g = 0; g < offer.size(); ++g) {
            Share& own = covers->groups[g];
            report.n_duplicates +=
                n_tokens == size && offer[g] && own.n_rows == n_tokens && own.ref != offer[g];
            if (!offer[g] || own.n_rows >= n_tokens || covers->path != path) continue;
            own = {offer[g], n_tokens};
            ++report.n_new;
        }
        return covers->id;
    }
    const Entry* nearest = best_entry(ns, path, block_index, Kind::resident);
    const uint64_t nearest_id = nearest ? nearest->id : 0;
    const size_t n_alike = nearest ? n_common(nearest->path, path) : 0;
    uint64_t id = 0;
    Entry* offloaded = beginning(ns, path, Kind::offloaded);
    Entry* shorter = beginning(ns, path, Kind::resident);
    if (shorter) {
        id = shorter->id;
        shorter->path = path;
        for (uint32_t g = 0; g < offer.size(); ++g)
            if (!offer[g] && shorter->groups[g].ref.use_count() > 1) shorter->groups[g] = {};
        if (offloaded) {
            absorb(*shorter, *offloaded);
            erase(offloaded->id);
        }
    } else if (offloaded) {
        id = offloaded->id;
        clear_read(*offloaded);
        offloaded->is_resident = true;
        offloaded->path = path;
        offloaded->inserted = tick_ + 1;
        ++offloaded->n_uses;
    } else {
        id = next_id_++;
        entries_.push_back({.id = id, .ns = ns, .path = path, .inserted = tick_ + 1});
        entries_.back().groups.resize(offer.size());
    }
    for (uint32_t g = 0; g < offer.size(); ++g) {
        if (!offer[g]) continue;
        by_id(id)->groups[g] = {offer[g], n_tokens};
        ++report.n_new;
    }
    if (!shorter && nearest_id != 0) {
        mark(nearest_id, n_alike);
        mark(id, n_alike);
    } else if (!shorter && block_index > 0) {
        bool has_sibling = false;
        for (const Entry& other : entries_)
            has_sibling |= other.id != id && other.ns == ns && other.is_resident &&
                           block_index_of(other) == block_index &&
                           above(other) == above(*by_id(id));
        if (has_sibling)
            mark(covering(ns, first_tokens(path, block_index * size), Kind::resident)->id,
                 block_index * size);
    }
    mark_distance(id);
    return id;
}

void NaivePrefixCache::absorb(Entry& to, const Entry& from) {
    to.n_uses = std::max(to.n_uses, from.n_uses);
    to.last_use = std::max(to.last_use, from.last_use);
    if (from.tier.n_tokens > to.tier.n_tokens) {
        if (!to.is_resident) clear_read(to);
        to.tier = from.tier;
    }
}

bool NaivePrefixCache::store_logits(uint32_t ns, const NaiveTokens& tokens) {
    const uint32_t usable = usable_tokens(walk_resident(ns, tokens), tokens, State::in_ram);
    if (tokens.empty() || usable != tokens.size()) return false;
    if (options_.most_logits == 0) return false;
    std::erase(logits_, Logits{ns, tokens});
    if (logits_.size() == options_.most_logits) logits_.erase(logits_.begin());
    logits_.push_back({ns, tokens});
    return true;
}

void NaivePrefixCache::forget_uncovered_logits() {
    std::erase_if(logits_, [this](const Logits& logits) {
        return n_matched(walk_resident(logits.ns, logits.path), logits.path) != logits.path.size();
    });
}

}  // namespace kvik
