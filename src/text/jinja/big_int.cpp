#include "text/jinja/big_int.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace kvik::jinja {
namespace {

constexpr uint32_t kDecimals = 1'000'000'000;  // the largest power of ten that a limb holds

std::optional<uint32_t> digit_of(char c, uint32_t base) {
    const char letter = static_cast<char>(c | 0x20);
    const uint32_t digit = c >= '0' && c <= '9' ? static_cast<uint32_t>(c - '0')
                           : letter >= 'a' && letter <= 'z'
                               ? static_cast<uint32_t>(letter - 'a') + 10
                               : base;
    if (digit >= base) return std::nullopt;
    return digit;
}

}  // namespace

BigInt::BigInt(Limbs limbs, bool negative) : limbs_(std::move(limbs)) {
    while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
    negative_ = negative && !limbs_.empty();
}

BigInt::BigInt(int64_t value) {
    const uint64_t size =
        value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    *this = BigInt({static_cast<uint32_t>(size), static_cast<uint32_t>(size >> 32)}, value < 0);
}

std::optional<BigInt> BigInt::parse(std::string_view digits, uint32_t base) {
    if (digits.empty()) return std::nullopt;
    Limbs limbs;
    for (const char c : digits) {
        const auto digit = digit_of(c, base);
        if (!digit) return std::nullopt;
        uint64_t carry = *digit;
        for (uint32_t& limb : limbs) {
            carry += static_cast<uint64_t>(limb) * base;
            limb = static_cast<uint32_t>(carry);
            carry >>= 32;
        }
        if (carry != 0) limbs.push_back(static_cast<uint32_t>(carry));
    }
    return BigInt(std::move(limbs), false);
}

BigInt BigInt::truncated(double value) {
    int exponent = 0;
    const double fraction =
        std::frexp(std::abs(value), &exponent);  // value = fraction * 2^exponent
    constexpr int kDigits = 53;
    const auto mantissa = static_cast<int64_t>(std::ldexp(fraction, kDigits));
    const int shift = exponent - kDigits;
    BigInt size = shift >= 0         ? BigInt(mantissa).shifted(static_cast<size_t>(shift))
                  : shift > -kDigits ? BigInt(mantissa >> -shift)
                                     : BigInt();
    return value < 0 ? size.negated() : size;
}

size_t BigInt::n_bits() const {
    if (limbs_.empty()) return 0;
    return limbs_.size() * 32 - static_cast<size_t>(std::countl_zero(limbs_.back()));
}

std::optional<int64_t> BigInt::small() const {
    if (limbs_.size() > 2) return std::nullopt;
    uint64_t size = 0;
    for (size_t i = limbs_.size(); i-- > 0;) size = size << 32 | limbs_[i];
    const uint64_t most = static_cast<uint64_t>(INT64_MAX) + (negative_ ? 1 : 0);
    if (size > most) return std::nullopt;
    return static_cast<int64_t>(negative_ ? 0 - size : size);
}

std::optional<double> BigInt::real() const {
    constexpr size_t kMostBits = 1024;
    const size_t n = n_bits();
    if (n > kMostBits) return std::nullopt;
    // The upper 64 bits, the lowest of them set when any below is: they round as the whole does.
    uint64_t top = 0;
    bool below = false;
    const size_t cut = n > 64 ? n - 64 : 0;
    for (size_t i = limbs_.size(); i-- > 0;) {
        const size_t at = i * 32;
        const uint64_t limb = limbs_[i];
        if (at >= cut) {
            top |= limb << (at - cut);
        } else if (at + 32 > cut) {
            top |= limb >> (cut - at);
            below = below || (limb & ((uint64_t{1} << (cut - at)) - 1)) != 0;
        } else {
            below = below || limb != 0;
        }
    }
    const double size =
        std::ldexp(static_cast<double>(top | (below ? 1 : 0)), static_cast<int>(cut));
    if (!std::isfinite(size)) return std::nullopt;
    return negative_ ? -size : size;
}

std::string BigInt::text(uint32_t base) const {
    if (limbs_.empty()) return "0";
    constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
    const uint32_t step = base == 10 ? kDecimals : base;
    const int n_digits = base == 10 ? 9 : 1;
    std::string out;
    for (Limbs left = limbs_; !left.empty();) {
        uint32_t part = divide_short(left, step);
        for (int i = 0; i < n_digits && (part != 0 || !left.empty()); ++i) {
            out += kDigits[part % base];
            part /= base;
        }
    }
    if (negative_) out += '-';
    std::reverse(out.begin(), out.end());
    return out;
}

BigInt BigInt::negated() const {
    return {limbs_, !negative_};
}

BigInt BigInt::shifted(size_t n_bits) const {
    Limbs out(n_bits / 32, 0);
    const auto by = static_cast<uint32_t>(n_bits % 32);
    uint64_t carry = 0;
    for (const uint32_t limb : limbs_) {
        carry |= static_cast<uint64_t>(limb) << by;
        out.push_back(static_cast<uint32_t>(carry));
        carry >>= 32;
    }
    out.push_back(static_cast<uint32_t>(carry));
    return {std::move(out), negative_};
}

std::strong_ordering BigInt::order(const Limbs& a, const Limbs& b) {
    if (a.size() != b.size()) return a.size() <=> b.size();
    return std::lexicographical_compare_three_way(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

BigInt::Limbs BigInt::sum(const Limbs& a, const Limbs& b) {
    Limbs out;
    uint64_t carry = 0;
    for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
        carry += (i < a.size() ? a[i] : 0ull) + (i < b.size() ? b[i] : 0ull);
        out.push_back(static_cast<uint32_t>(carry));
        carry >>= 32;
    }
    out.push_back(static_cast<uint32_t>(carry));
    return out;
}

BigInt::Limbs BigInt::difference(const Limbs& larger, const Limbs& smaller) {
    Limbs out;
    int64_t borrow = 0;
    for (size_t i = 0; i < larger.size(); ++i) {
        borrow += static_cast<int64_t>(larger[i]) - (i < smaller.size() ? smaller[i] : 0);
        out.push_back(static_cast<uint32_t>(borrow));
        borrow >>= 32;
    }
    return out;
}

BigInt operator+(const BigInt& a, const BigInt& b) {
    if (a.negative_ == b.negative_) return {BigInt::sum(a.limbs_, b.limbs_), a.negative_};
    if (BigInt::order(a.limbs_, b.limbs_) >= 0)
        return {BigInt::difference(a.limbs_, b.limbs_), a.negative_};
    return {BigInt::difference(b.limbs_, a.limbs_), b.negative_};
}

BigInt operator*(const BigInt& a, const BigInt& b) {
    BigInt::Limbs out(a.limbs_.size() + b.limbs_.size(), 0);
    for (size_t i = 0; i < a.limbs_.size(); ++i) {
        uint64_t carry = 0;
        for (size_t j = 0; j < b.limbs_.size(); ++j) {
            carry += static_cast<uint64_t>(a.limbs_[i]) * b.limbs_[j] + out[i + j];
            out[i + j] = static_cast<uint32_t>(carry);
            carry >>= 32;
        }
        out[i + b.limbs_.size()] = static_cast<uint32_t>(carry);
    }
    return {std::move(out), a.negative_ != b.negative_};
}

std::strong_ordering operator<=>(const BigInt& a, const BigInt& b) {
    if (a.negative_ != b.negative_)
        return a.negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
    return a.negative_ ? BigInt::order(b.limbs_, a.limbs_) : BigInt::order(a.limbs_, b.limbs_);
}

// Divides in place and gives the remainder.
uint32_t BigInt::divide_short(Limbs& limbs, uint32_t by) {
    uint64_t rest = 0;
    for (size_t i = limbs.size(); i-- > 0;) {
        rest = rest << 32 | limbs[i];
        limbs[i] = static_cast<uint32_t>(rest / by);
        rest %= by;
    }
    while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
    return static_cast<uint32_t>(rest);
}

// Digit by digit from the top, in base 2^32: each digit is guessed from the two upper ones of what
// is left, and is at most two too large once the divisor's highest bit is set (Knuth, algorithm D).
std::pair<BigInt::Limbs, BigInt::Limbs> BigInt::divide_long(const Limbs& a, const Limbs& b) {
    if (b.size() == 1) {
        Limbs quotient = a;
        const uint32_t rest = divide_short(quotient, b[0]);
        return std::make_pair(std::move(quotient), Limbs{rest});
    }
    const auto shift = static_cast<size_t>(std::countl_zero(b.back()));
    const Limbs by = BigInt(b, false).shifted(shift).limbs_;
    Limbs left = BigInt(a, false).shifted(shift).limbs_;
    left.resize(std::max(left.size(), a.size()) + 1, 0);
    const size_t n = by.size();
    Limbs quotient(left.size() - n, 0);
    for (size_t at = left.size() - n; at-- > 0;) {
        const uint64_t upper = static_cast<uint64_t>(left[at + n]) << 32 | left[at + n - 1];
        uint64_t guess = upper / by[n - 1];
        uint64_t rest = upper % by[n - 1];
        while (guess >> 32 != 0 || guess * by[n - 2] > (rest << 32 | left[at + n - 2])) {
            --guess;
            rest += by[n - 1];
            if (rest >> 32 != 0) break;
        }
        uint64_t carry = 0;
        int64_t borrow = 0;
        for (size_t i = 0; i < n; ++i) {
            carry += guess * by[i];
            borrow += static_cast<int64_t>(left[at + i]) - static_cast<uint32_t>(carry);
            left[at + i] = static_cast<uint32_t>(borrow);
            borrow >>= 32;
            carry >>= 32;
        }
        borrow += static_cast<int64_t>(left[at + n]) - static_cast<int64_t>(carry);
        left[at + n] = static_cast<uint32_t>(borrow);
        if (borrow < 0) {  // one too large
            --guess;
            uint64_t back = 0;
            for (size_t i = 0; i < n; ++i) {
                back += static_cast<uint64_t>(left[at + i]) + by[i];
                left[at + i] = static_cast<uint32_t>(back);
                back >>= 32;
            }
            left[at + n] += static_cast<uint32_t>(back);
        }
        quotient[at] = static_cast<uint32_t>(guess);
    }
    left.resize(n);
    for (size_t i = 0; shift > 0 && i < n; ++i) {
        const uint64_t upper = i + 1 < n ? left[i + 1] : 0;
        left[i] = static_cast<uint32_t>((upper << 32 | left[i]) >> shift);
    }
    return {std::move(quotient), std::move(left)};
}

BigInt::Division BigInt::divide(const BigInt& a, const BigInt& b) {
    if (order(a.limbs_, b.limbs_) < 0) {
        if (a.is_zero() || a.negative_ == b.negative_) return {BigInt(), a};
        return {BigInt(-1), a + b};
    }
    auto [quotient, rest] = divide_long(a.limbs_, b.limbs_);
    Division out{BigInt(std::move(quotient), a.negative_ != b.negative_),
                 BigInt(std::move(rest), a.negative_)};
    if (!out.remainder.is_zero() && a.negative_ != b.negative_) {
        out.quotient = out.quotient - BigInt(1);
        out.remainder = out.remainder + b;
    }
    return out;
}

std::optional<double> BigInt::ratio(const BigInt& a, const BigInt& b) {
    if (a.is_zero()) return 0.0;
    // A quotient of some 66 bits, the lowest set when there is a remainder: it rounds as the whole.
    const auto shift = static_cast<int64_t>(b.n_bits()) - static_cast<int64_t>(a.n_bits()) + 66;
    const BigInt up = shift > 0 ? a.shifted(static_cast<size_t>(shift)) : a;
    const BigInt down = shift < 0 ? b.shifted(static_cast<size_t>(-shift)) : b;
    auto [quotient, rest] = divide_long(up.limbs_, down.limbs_);
    const bool inexact =
        std::any_of(rest.begin(), rest.end(), [](uint32_t limb) { return limb != 0; });
    quotient[0] |= inexact ? 1 : 0;
    const double size =
        std::ldexp(*BigInt(std::move(quotient), false).real(), static_cast<int>(-shift));
    if (!std::isfinite(size)) return std::nullopt;
    return a.negative_ != b.negative_ ? -size : size;
}

}  // namespace kvik::jinja
