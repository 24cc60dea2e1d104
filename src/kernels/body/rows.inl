// Row operations over the vocabulary `Simd` (R2, R4, R6 of SPEC.md): quantise, norm, activation.

namespace kvik {
namespace {

constexpr int kRegs = 16 / Simd::kLanes;  // registers that play R4's 16 lanes

// R4's tree over 16 lanes: 8, 4, 2, 1.
float tree(const Simd::F* v) {
    alignas(64) float lanes[16];
    for (int i = 0; i < kRegs; ++i) Simd::store(lanes + i * Simd::kLanes, v[i]);
    for (int half = 8; half > 0; half /= 2)
        for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
    return lanes[0];
}

// R6.
Simd::F spec_exp(Simd::F x) {
    const Simd::F bounded = Simd::min(x, Simd::set(numerics::kExpMax));
    const Simd::F n = Simd::round(Simd::mul(bounded, Simd::set(numerics::kLog2E)));
    Simd::F r = Simd::fma(Simd::sub(Simd::zero(), n), Simd::set(numerics::kLn2High), bounded);
    r = Simd::fma(Simd::sub(Simd::zero(), n), Simd::set(numerics::kLn2Low), r);
    Simd::F p = Simd::set(numerics::kExpPoly[0]);
#pragma GCC unroll 6
    for (int i = 1; i < 7; ++i) p = Simd::fma(p, r, Simd::set(numerics::kExpPoly[i]));
    return Simd::keep_at_least(x, Simd::set(numerics::kExpMin), Simd::scale_by_power(p, n));
}

float spec_exp(float x) {
    alignas(64) float out[Simd::kLanes];
    Simd::store(out, spec_exp(Simd::set(x)));
    return out[0];
}

constexpr int kGroupRegs = static_cast<int>(kGroup) / Simd::kLanes;

// Scales of up to 16 groups, several a register: d = amax / 127 and 127 / amax, or 0 below the floor.
// A group with a value that is not finite becomes zeros.
struct GroupScales {
    alignas(64) int top[16] = {};  // largest |x|, as bits
    alignas(64) float d[16], inverse[16];
    unsigned bad = 0;  // bit g: group g has a value that is not finite

    void find() {
        for (int g = 0; g < 16; ++g)
            if (top[g] >= 0x7f800000) {
                bad |= 1u << g;
                top[g] = 0;
            }
        const Simd::F floor = Simd::set(numerics::kQuantFloor), most = Simd::set(127.0f);
        for (int i = 0; i < 16; i += Simd::kLanes) {
            const Simd::F amax = Simd::load(reinterpret_cast<const float*>(top + i));
            Simd::store(d + i, Simd::keep_at_least(amax, floor, Simd::div(amax, most)));
            Simd::store(inverse + i, Simd::keep_at_least(amax, floor, Simd::div(most, amax)));
        }
    }
    const float* source(int g, const float* x) const {
        alignas(64) static constexpr float kZeros[kSuperGroup] = {};
        return bad >> g & 1 ? kZeros : x;
    }
};

// Largest |x| of n elements, as bits: NaN and infinity are the largest.
template <int n>
int largest_bits(const float* x) {
    Simd::I top = Simd::abs_bits(Simd::load(x));
#pragma GCC unroll 32
    for (int i = Simd::kLanes; i < n; i += Simd::kLanes)
        top = Simd::imax(top, Simd::abs_bits(Simd::load(x + i)));
    return Simd::reduce_max(top);
}

[[gnu::always_inline]] inline Simd::Sums quantize_32(const float* x, Simd::F inverse, int8_t* q) {
    Simd::F v[kGroupRegs];
#pragma GCC unroll 4
    for (int i = 0; i < kGroupRegs; ++i)
        v[i] = Simd::mul(Simd::load(x + i * Simd::kLanes), inverse);
    return Simd::store_rounded_32(q, v);
}

int quantize(const float* x, uint32_t n_groups, QuantPanel panel, uint32_t c) {
    int finite = 1;
    for (uint32_t first = 0; first < n_groups; first += 16) {
        const int n = static_cast<int>(n_groups - first < 16 ? n_groups - first : 16);
        GroupScales scales;
        for (int g = 0; g < n; ++g)
            scales.top[g] = largest_bits<kGroup>(x + g * static_cast<int>(kGroup));
        scales.find();
        if (scales.bad) finite = 0;
        uint64_t at = uint64_t{first} * panel.stride + c;
        for (int g = 0; g < n; ++g, x += kGroup, at += panel.stride) {
            const Simd::Sums sums = quantize_32(scales.source(g, x), Simd::set(scales.inverse[g]),
                                                panel.q + at * kGroup);
            const int sum = sums.first + sums.last;
            panel.d[at] = scales.d[g];
            panel.u[at] = scales.d[g] * static_cast<float>(sum);
            panel.nsum[at] = -sum;
        }
    }
    return finite;
}

// Register i of 16 lanes that hold x[0 .. n) and zeros behind, n < 16.
struct Padded {
    alignas(64) float lanes[16] = {};
    Padded(const float* x, uint32_t n) {
        for (uint32_t i = 0; i < n; ++i) lanes[i] = x[i];
    }
    Simd::F at(int i) const { return Simd::load(lanes + i * Simd::kLanes); }
};

float rms_norm(const float* x, const float* w, float eps, uint32_t n, float* y) {
    Simd::F lanes[kRegs];
    for (Simd::F& v : lanes) v = Simd::zero();
    const uint32_t whole = n / 16 * 16;
    for (uint32_t i = 0; i < whole; i += 16)
        for (int j = 0; j < kRegs; ++j) {
            const Simd::F v = Simd::load(x + i + j * Simd::kLanes);
            lanes[j] = Simd::fma(v, v, lanes[j]);
        }
    if (whole < n) {
        const Padded rest(x + whole, n - whole);
        for (int j = 0; j < kRegs; ++j) lanes[j] = Simd::fma(rest.at(j), rest.at(j), lanes[j]);
    }
    const float ss = tree(lanes);
    const float inverse = 1.0f / __builtin_sqrtf(ss / static_cast<float>(n) + eps);
    uint32_t i = 0;
    for (; i + Simd::kLanes <= n; i += Simd::kLanes)
        Simd::store(y + i,
                    Simd::mul(Simd::mul(Simd::load(x + i), Simd::set(inverse)), Simd::load(w + i)));
    for (; i < n; ++i) y[i] = x[i] * inverse * w[i];
    return ss;
}

float mean_of(const float* x, uint32_t n) {
    Simd::F lanes[kRegs];
    for (Simd::F& v : lanes) v = Simd::zero();
    const uint32_t whole = n / 16 * 16;
    for (uint32_t i = 0; i < whole; i += 16)
        for (int j = 0; j < kRegs; ++j)
            lanes[j] = Simd::add(lanes[j], Simd::load(x + i + j * Simd::kLanes));
    if (whole < n) {
        const Padded rest(x + whole, n - whole);
        for (int j = 0; j < kRegs; ++j) lanes[j] = Simd::add(lanes[j], rest.at(j));
    }
    return tree(lanes) / static_cast<float>(n);
}

float layer_norm(const float* x, const float* w, const float* b, float eps, uint32_t n, float* y) {
    const float mean = mean_of(x, n);
    const Simd::F shift = Simd::set(mean);
    Simd::F lanes[kRegs];
    for (Simd::F& v : lanes) v = Simd::zero();
    const uint32_t whole = n / 16 * 16;
    for (uint32_t i = 0; i < whole; i += 16)
        for (int j = 0; j < kRegs; ++j) {
            const Simd::F v = Simd::sub(Simd::load(x + i + j * Simd::kLanes), shift);
            lanes[j] = Simd::fma(v, v, lanes[j]);
        }
    if (whole < n) {
        Padded rest(x + whole, n - whole);
        for (uint32_t i = whole; i < n; ++i) rest.lanes[i - whole] = x[i] - mean;
        for (int j = 0; j < kRegs; ++j) lanes[j] = Simd::fma(rest.at(j), rest.at(j), lanes[j]);
    }
    const float ss = tree(lanes);
    const float inverse = 1.0f / __builtin_sqrtf(ss / static_cast<float>(n) + eps);
    uint32_t i = 0;
    for (; i + Simd::kLanes <= n; i += Simd::kLanes) {
        const Simd::F v = Simd::sub(Simd::load(x + i), shift);
        Simd::store(y + i, Simd::fma(Simd::mul(v, Simd::set(inverse)), Simd::load(w + i),
                                     Simd::load(b + i)));
    }
    for (; i < n; ++i) y[i] = __builtin_fmaf((x[i] - mean) * inverse, w[i], b[i]);
    return ss;
}

Simd::F silu(Simd::F g) {
    return Simd::div(g, Simd::add(Simd::set(1.0f), spec_exp(Simd::sub(Simd::zero(), g))));
}

Simd::F spec_gelu(Simd::F x) {
    const Simd::F twice_y = Simd::mul(x, Simd::fma(Simd::mul(x, x), Simd::set(numerics::kGeluCube),
                                                   Simd::set(numerics::kGeluLine)));
    return Simd::div(x, Simd::add(Simd::set(1.0f), spec_exp(Simd::sub(Simd::zero(), twice_y))));
}

// out = f(gate) * up
template <Simd::F (*kFunction)(Simd::F)>
void gated(const float* gate, const float* up, uint32_t n, float* out) {
    uint32_t i = 0;
    for (; i + Simd::kLanes <= n; i += Simd::kLanes)
        Simd::store(out + i, Simd::mul(kFunction(Simd::load(gate + i)), Simd::load(up + i)));
    if (i == n) return;
    const Padded g(gate + i, n - i), u(up + i, n - i);
    alignas(64) float rest[Simd::kLanes];
    Simd::store(rest, Simd::mul(kFunction(g.at(0)), u.at(0)));
    for (uint32_t j = i; j < n; ++j) out[j] = rest[j - i];
}

void gelu(const float* x, uint32_t n, float* out) {
    uint32_t i = 0;
    for (; i + Simd::kLanes <= n; i += Simd::kLanes)
        Simd::store(out + i, spec_gelu(Simd::load(x + i)));
    if (i == n) return;
    const Padded tail(x + i, n - i);
    alignas(64) float rest[Simd::kLanes];
    Simd::store(rest, spec_gelu(tail.at(0)));
    for (uint32_t j = i; j < n; ++j) out[j] = rest[j - i];
}

void turn(float cosine, float sine, float* a, float* b) {
    const float x0 = *a, x1 = *b;
    *a = x0 * cosine - x1 * sine;
    *b = x0 * sine + x1 * cosine;
}

void rope_adjacent(const float* row, uint32_t n_dims, float* head) {
    const uint32_t half = n_dims / 2;
    uint32_t i = 0;
    for (; i + Simd::kLanes / 2 <= half; i += Simd::kLanes / 2) {
        const Simd::F x = Simd::load(head + 2 * i);
        Simd::store(head + 2 * i, Simd::sub_add(Simd::mul(x, Simd::load_twice(row + i)),
                                                Simd::mul(Simd::swap_pairs(x),
                                                          Simd::load_twice(row + half + i))));
    }
    for (; i < half; ++i) turn(row[i], row[half + i], head + 2 * i, head + 2 * i + 1);
}

void rope_halves(const float* row, uint32_t n_dims, float* head) {
    const uint32_t half = n_dims / 2;
    uint32_t i = 0;
    for (; i + Simd::kLanes <= half; i += Simd::kLanes) {
        const Simd::F x0 = Simd::load(head + i), x1 = Simd::load(head + half + i);
        const Simd::F cosine = Simd::load(row + i), sine = Simd::load(row + half + i);
        Simd::store(head + i, Simd::sub(Simd::mul(x0, cosine), Simd::mul(x1, sine)));
        Simd::store(head + half + i, Simd::add(Simd::mul(x0, sine), Simd::mul(x1, cosine)));
    }
    for (; i < half; ++i) turn(row[i], row[half + i], head + i, head + half + i);
}

void to_half(const float* x, uint32_t n, uint16_t* out) {
    const Simd::F top = Simd::set(numerics::kHalfMax), bottom = Simd::set(-numerics::kHalfMax);
    uint32_t i = 0;
    for (; i + Simd::kLanes <= n; i += Simd::kLanes)
        Simd::store_half(out + i, Simd::max(Simd::min(Simd::load(x + i), top), bottom));
    if (i == n) return;
    const Padded rest(x + i, n - i);
    alignas(64) uint16_t half[Simd::kLanes];
    Simd::store_half(half, Simd::max(Simd::min(rest.at(0), top), bottom));
    for (uint32_t j = i; j < n; ++j) out[j] = half[j - i];
}

}  // namespace
}  // namespace kvik
