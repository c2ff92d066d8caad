//! C functions for the comparison of host and GPU: names, types and bodies.

/// Types of arguments and results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Type {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
    Short2,
    Half2,
}

impl Type {
    pub(crate) const ALL: [Type; 13] = [
        Type::I8,
        Type::U8,
        Type::I16,
        Type::U16,
        Type::I32,
        Type::U32,
        Type::I64,
        Type::U64,
        Type::F16,
        Type::F32,
        Type::F64,
        Type::Short2,
        Type::Half2,
    ];
    const INTEGERS: [Type; 8] =
        [Type::I8, Type::U8, Type::I16, Type::U16, Type::I32, Type::U32, Type::I64, Type::U64];
    const FLOATS: [Type; 3] = [Type::F16, Type::F32, Type::F64];

    pub(crate) fn name(self) -> &'static str {
        ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32", "f64", "short2", "half2"]
            [self as usize]
    }

    pub(crate) fn bytes(self) -> usize {
        [1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8, 4, 4][self as usize]
    }

    fn is_signed(self) -> bool {
        matches!(self, Type::I8 | Type::I16 | Type::I32 | Type::I64)
    }
}

/// One function of `a`, `b` and `c`.
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) from: Type,
    pub(crate) to: Type,
    pub(crate) body: String,
}

impl Function {
    /// Units in the last place by which results may differ, because the compiler expands an approximation.
    pub(crate) fn tolerance(&self) -> u64 {
        if self.name.starts_with("approximate_") { 4 } else { 0 }
    }
}

/// Types and macros at the start of the source for host and GPU.
pub(crate) const PRELUDE: &str = r"
typedef signed char i8; typedef unsigned char u8; typedef short i16; typedef unsigned short u16;
typedef int i32; typedef unsigned u32; typedef long i64; typedef unsigned long u64;
typedef _Float16 f16; typedef float f32; typedef double f64;
typedef short short2 __attribute__((ext_vector_type(2)));
typedef _Float16 half2 __attribute__((ext_vector_type(2)));
";

/// All functions.
pub(crate) fn all() -> Vec<Function> {
    let mut list = Vec::new();
    let mut add = |name: String, from: Type, to: Type, body: String| {
        list.push(Function { name, from, to, body });
    };
    for ty in Type::INTEGERS {
        integer(ty, &mut add);
    }
    for ty in Type::FLOATS {
        float(ty, &mut add);
    }
    conversions(&mut add);
    packed(&mut add);
    list
}

type Add<'a> = dyn FnMut(String, Type, Type, String) + 'a;

fn integer(ty: Type, add: &mut Add<'_>) {
    let (t, bits) = (ty.name(), 8 * ty.bytes());
    let minus_one = if ty.is_signed() { "b == -1 ? (T)(0 - (U)a) :" } else { "" };
    let rest_minus_one = if ty.is_signed() { "b == -1 ? (T)0 :" } else { "" };
    let unsigned = format!("u{bits}");
    let bodies = [
        ("add", "(T)((U)a + (U)b)"),
        ("sub", "(T)((U)a - (U)b)"),
        ("mul", "(T)((u64)a * (u64)b)"),
        ("mad", "(T)((u64)a * (u64)b + (u64)c)"),
        ("div", "b == 0 ? (T)7 : M a / b"),
        ("rem", "b == 0 ? (T)7 : R a % b"),
        ("div7", "a / (T)7"),
        ("rem10", "a % (T)10"),
        ("and", "a & b"),
        ("or_and", "(a | b) & c"),
        ("xor3", "a ^ b ^ c"),
        ("andnot", "a & ~b"),
        ("select_bits", "(a & b) | (~a & c)"),
        ("shl", "(T)((U)a << (b & (N - 1)))"),
        ("shr", "a >> (b & (N - 1))"),
        ("shift_add", "(T)(((U)a << 3) + (U)b)"),
        ("rotate", "(T)(((U)a << (b & (N - 1))) | ((U)a >> ((N - (b & (N - 1))) & (N - 1))))"),
        ("min", "a < b ? a : b"),
        ("max", "a > b ? a : b"),
        ("min3", "({ T m = a < b ? a : b; m < c ? m : c; })"),
        ("clamp", "({ T l = b < c ? b : c, h = b < c ? c : b; a < l ? l : a > h ? h : a; })"),
        (
            "compare",
            "(T)((a < b) | (a <= b) << 1 | (a == b) << 2 | (a != c) << 3 | (a > c) << 4 | (a >= c) << 5)",
        ),
        ("choose", "a < b ? c : a"),
        ("negate", "(T)(0 - (U)a)"),
        ("add_sat", "__builtin_elementwise_add_sat(a, b)"),
        ("sub_sat", "__builtin_elementwise_sub_sat(a, b)"),
        ("popcount", "(T)__builtin_popcountl((u64)(U)a)"),
        ("leading", "(T)(a ? __builtin_clzl((u64)(U)a) : 99)"),
        ("trailing", "(T)(a ? __builtin_ctzl((u64)(U)a) : 99)"),
        ("reverse", "(T)__builtin_elementwise_bitreverse((U)a)"),
        ("carry", "({ T s; int o = __builtin_add_overflow(a, b, &s); (T)(s + o); })"),
        ("borrow", "({ T s; int o = __builtin_sub_overflow(a, b, &s); (T)(s ^ o); })"),
        ("extract", "(T)(((U)a >> 3) & 31)"),
        ("parity", "(T)__builtin_parityl((u64)(U)a)"),
        ("average", "(T)(((u64)(U)a + (u64)(U)b) >> 1)"),
        ("loop", "({ U s = 0; for (unsigned k = 0; k < ((U)b & 15); k++) s = s * 31 + (U)a; (T)s; })"),
    ];
    for (name, body) in bodies {
        let body = body
            .replace('M', minus_one)
            .replace('R', rest_minus_one)
            .replace('T', t)
            .replace('U', &unsigned)
            .replace('N', &bits.to_string());
        add(format!("{name}_{t}"), ty, ty, body);
    }
    if ty.is_signed() {
        let body = format!("a < 0 ? ({t})(0 - ({unsigned})a) : a");
        add(format!("abs_{t}"), ty, ty, body);
    }
    let wide = match ty {
        Type::I32 => Some("(i32)(((i64)a * (i64)b) >> 32)"),
        Type::U32 => Some("(u32)(((u64)a * (u64)b) >> 32)"),
        Type::I64 => Some("(i64)(((__int128)a * (__int128)b) >> 64)"),
        Type::U64 => Some("(u64)(((unsigned __int128)a * (unsigned __int128)b) >> 64)"),
        _ => None,
    };
    if let Some(body) = wide {
        add(format!("mul_high_{t}"), ty, ty, body.into());
    }
}

fn float(ty: Type, add: &mut Add<'_>) {
    let t = ty.name();
    let suffix = match ty {
        Type::F16 => "f16",
        Type::F32 => "f",
        _ => "",
    };
    let bodies = [
        ("add", "a + b"),
        ("sub", "a - b"),
        ("mul", "a * b"),
        ("div", "a / b"),
        ("reciprocal", "(T)1 / a"),
        ("fma", "__builtin_fmaS(a, b, c)"),
        ("fma_negated", "__builtin_fmaS(-a, b, -c)"),
        ("mul_add", "a * b + c"),
        ("sqrt", "__builtin_sqrtS(a)"),
        ("floor", "__builtin_floorS(a)"),
        ("ceil", "__builtin_ceilS(a)"),
        ("trunc", "__builtin_truncS(a)"),
        ("nearest", "__builtin_roundevenS(a)"),
        ("abs_negate", "-__builtin_fabsS(a) + b"),
        ("copysign", "__builtin_copysignS(a, b)"),
        ("min", "a == b || a != a || b != b ? c : __builtin_fminS(a, b)"),
        ("max", "a == b || a != a || b != b ? c : __builtin_fmaxS(a, b)"),
        ("clamp", "({ T x = a < (T)0 ? (T)0 : a; x > (T)1 ? (T)1 : x; })"),
        ("choose", "a < b ? c : a"),
        ("choose_unordered", "!(a >= b) ? c : b"),
        ("double", "(a + b) * (T)2"),
        ("halve", "(a - b) * (T)0.5"),
        ("fraction", "({ T f = __builtin_floorS(a); a - f; })"),
        ("polynomial", "((a * (T)0.25 + (T)1.5) * a - (T)2) * a + b"),
    ];
    for (name, body) in bodies {
        add(format!("{name}_{t}"), ty, ty, body.replace('T', t).replace('S', suffix));
    }
    let compare = "(a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | (a > c) << 4 | (a >= c) << 5 \
                   | __builtin_isunordered(a, c) << 6 | __builtin_islessgreater(b, c) << 7";
    add(format!("compare_{t}"), ty, Type::U32, compare.into());
    let class = "__builtin_isnan(a) | __builtin_isinf(a) << 1 | __builtin_isfinite(a) << 2 | __builtin_isnormal(a) << 3 \
                 | (__builtin_signbit((f32)a) != 0) << 4 | __builtin_isfpclass(a, 0x90) << 5";
    add(format!("class_{t}"), ty, Type::U32, class.into());
    if ty != Type::F16 {
        add(
            format!("ldexp_{t}"),
            ty,
            ty,
            format!("__builtin_ldexp{suffix}(a, ((int)__builtin_bit_cast(u32, (f32)b) >> 20))"),
        );
        let parts =
            format!("({{ int e = 0; {t} m = __builtin_frexp{suffix}(a, &e); a - a == 0 ? m * 2 + e : b; }})");
        add(format!("frexp_{t}"), ty, ty, parts);
    }
    if ty == Type::F32 {
        for name in ["exp", "exp2", "log", "log2", "log10"] {
            add(format!("approximate_{name}_{t}"), ty, ty, format!("__builtin_{name}f(a)"));
        }
    }
}

fn conversions(add: &mut Add<'_>) {
    for from in Type::INTEGERS.into_iter().chain(Type::FLOATS) {
        for to in Type::INTEGERS.into_iter().chain(Type::FLOATS) {
            let float = |ty: Type| Type::FLOATS.contains(&ty);
            // Two conversions that both round; compilers order them differently.
            let twice = from.bytes() == 8 && to == Type::F16;
            if from == to || twice {
                continue;
            }
            let body = match (float(from), float(to)) {
                (true, false) => {
                    let bits = 8 * to.bytes() as i32;
                    let (low, high) = if to.is_signed() {
                        (format!("-0x1p{}", bits - 1), format!("0x1p{}", bits - 1))
                    } else {
                        ("0".into(), format!("0x1p{bits}"))
                    };
                    format!("(f64)a >= {low} && (f64)a < {high} ? ({})a : ({})7", to.name(), to.name())
                }
                _ => format!("({})a", to.name()),
            };
            add(format!("to_{}_from_{}", to.name(), from.name()), from, to, body);
        }
    }
    for (name, from, to, body) in [
        (
            "bytes_to_float",
            Type::U32,
            Type::F32,
            "(f32)(a & 255) + (f32)(a >> 8 & 255) * (f32)(b >> 16 & 255) + (f32)(c >> 24)",
        ),
        (
            "dot4",
            Type::U32,
            Type::U32,
            "({ u32 s = c; for (int k = 0; k < 4; k++) s += (a >> 8 * k & 255) * (b >> 8 * k & 255); s; })",
        ),
        ("byte_select", Type::U32, Type::U32, "__builtin_bswap32(a) ^ (b << 8 | c >> 24)"),
        (
            "halves_sum",
            Type::U32,
            Type::U32,
            "(u32)(u16)((u16)a + (u16)(b >> 16)) << 16 | (u16)((u16)(a >> 16) * (u16)c)",
        ),
        ("align", Type::U32, Type::U32, "(u32)((((u64)a << 32) | b) >> (c & 31))"),
        ("mixed", Type::F16, Type::F32, "(f32)a * (f32)b + (f32)c"),
        ("mixed_fused", Type::F16, Type::F32, "__builtin_fmaf((f32)a, (f32)b, (f32)c)"),
    ] {
        add(name.into(), from, to, body.into());
    }
}

fn packed(add: &mut Add<'_>) {
    for (name, body) in [
        ("add", "a + b"),
        ("sub", "a - b"),
        ("mul", "a * b"),
        ("mad", "a * b + c"),
        ("shl", "a << (b & (short2)15)"),
        ("shr", "a >> (b & (short2)15)"),
        ("min", "__builtin_elementwise_min(a, b)"),
        ("max", "__builtin_elementwise_max(a, b)"),
        ("swap", "a.yx + b"),
        // Constants that are halves of inline floats.
        ("add_high", "a + (short2)0x3f00"),
        ("sub_high", "(short2)0x3f80 - a"),
        ("min_one_high", "__builtin_elementwise_min(a, (short2){0, 0x4000})"),
    ] {
        add(format!("packed_{name}_short2"), Type::Short2, Type::Short2, body.into());
    }
    for (name, body) in [
        ("add", "a + b"),
        ("sub", "a - b"),
        ("mul", "a * b"),
        ("fma", "__builtin_elementwise_fma(a, b, c)"),
        ("fma_negated", "__builtin_elementwise_fma(-a, b, -c)"),
        ("swap", "a.yx * b + c.xx"),
    ] {
        add(format!("packed_{name}_half2"), Type::Half2, Type::Half2, body.into());
    }
}
