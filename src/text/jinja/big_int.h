// BigInt: a whole number of any size, as Python's int. For what does not fit 64 bits.
//
// Use     big_or_small() makes a Value of a result: an int64_t where it fits.
// Threads none: a value type.
// Cost    adding is linear in the digits; multiplying, dividing, reading and writing are quadratic.
//         The caller bounds n_bits() first and charges its budget.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvik::jinja {

class BigInt {
  public:
    BigInt() = default;
    explicit BigInt(int64_t value);
    // `digits` of the base, 2 to 36, without a sign; nothing when one is none.
    static std::optional<BigInt> parse(std::string_view digits, uint32_t base);
    static BigInt truncated(double value);  // of a finite number

    bool is_zero() const { return limbs_.empty(); }
    bool is_negative() const { return negative_; }
    size_t n_bits() const;
    size_t n_limbs() const { return limbs_.size(); }
    std::optional<int64_t> small() const;
    std::optional<double> real() const;  // the nearest; nothing past the largest float
    std::string text(uint32_t base = 10) const;

    BigInt negated() const;
    BigInt shifted(size_t n_bits) const;  // times 2^n
    friend BigInt operator+(const BigInt& a, const BigInt& b);
    friend BigInt operator-(const BigInt& a, const BigInt& b) { return a + b.negated(); }
    friend BigInt operator*(const BigInt& a, const BigInt& b);
    friend std::strong_ordering operator<=>(const BigInt& a, const BigInt& b);
    friend bool operator==(const BigInt& a, const BigInt& b) = default;

    // Rounded down, so that the remainder has the divisor's sign; `b` is not zero.
    struct Division;
    static Division divide(const BigInt& a, const BigInt& b);
    static std::optional<double> ratio(const BigInt& a, const BigInt& b);  // the nearest float

  private:
    using Limbs = std::vector<uint32_t>;
    BigInt(Limbs limbs, bool negative);
    static std::strong_ordering order(const Limbs& a, const Limbs& b);
    static Limbs sum(const Limbs& a, const Limbs& b);
    static Limbs difference(const Limbs& larger, const Limbs& smaller);
    static uint32_t divide_short(Limbs& limbs, uint32_t by);
    static std::pair<Limbs, Limbs> divide_long(const Limbs& a, const Limbs& b);

    Limbs limbs_;  // the lowest first, none at the top that is zero
    bool negative_ = false;
};

struct BigInt::Division {
    BigInt quotient, remainder;
};

}  // namespace kvik::jinja
