//! Values and errors of expressions.

use rockhound_expression::{ErrorKind, Expression, Value};

/// The value of an expression of x = 6, y = 4, z = 0, f = 2.5, t = "abc", b = True.
fn value(text: &str) -> Result<Value, rockhound_expression::ExpressionError> {
    let known = ["x", "y", "z", "f", "t", "b"];
    let values = [
        Value::Int(6),
        Value::Int(4),
        Value::Int(0),
        Value::Float(2.5),
        Value::Text("abc".to_owned()),
        Value::Bool(true),
    ];
    let expression = Expression::parse(text)?;
    let places = expression.bind(&known)?;
    let values: Vec<Value> = places.iter().map(|&it| values[it].clone()).collect();
    expression.evaluate(&values)
}

#[test]
fn values_are_those_of_python() {
    for (text, expected) in [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("x / y", "1.5"),
        ("x / 3", "2.0"),
        ("-7 // 2", "-4"),
        ("-7 % 3", "2"),
        ("7 % -3", "-2"),
        ("-7.5 % 2", "0.5"),
        ("7.5 // -2", "-4.0"),
        ("-2 ** 2", "-4"),
        ("2 ** -1", "0.5"),
        ("2 ** 3 ** 2", "512"),
        ("10 ** 12", "1000000000000"),
        ("x & (x - 1) == 4", "True"),
        ("1 << 4 | 3", "19"),
        ("~x", "-7"),
        ("0x10 + 0b11 + 1_000 + 1e2", "1119.0"),
        ("1 < x <= 6 < 7", "True"),
        ("1 < x < 6", "False"),
        ("not x == 6 or y == 4", "True"),
        ("x and y", "4"),
        ("z or f", "2.5"),
        ("z != 0 and x % z == 0", "False"),
        ("x in [2, 4, 6.0]", "True"),
        ("x not in (2, 4)", "True"),
        ("'b' in t and t == \"abc\" and t != 1", "True"),
        ("t < 'abz'", "True"),
        ("b == 1 and b + 1 == 2", "True"),
        ("x if y > 4 else f", "2.5"),
        ("min(x, y) + max([1, 2]) + abs(-3) + len(t)", "12"),
        ("int(f) + round(2.5) + round(3.5) + int('7')", "15"),
        ("float(x)", "6.0"),
        ("[1, 2] + list(range(4, 9, 2))", "[1, 2, 4, 6, 8]"),
        ("range(3, 0, -1)", "[3, 2, 1]"),
        ("[2**i for i in range(0, 4)]", "[1, 2, 4, 8]"),
        ("[[i * j for j in (1, i)] for i in (1, 2)]", "[[1, 1], [2, 4]]"),
        ("[i for i in (1, 2) for j in (1, 2)]", "error"),
        ("[i for i in range(10) if i % x == 0]", "[0, 6]"),
        ("[[i, j] for i in [j * 2 for j in (1, 2)]]", "error"),
        ("sum(i for i in range(5))", "10"),
        ("any(x % i == 0 for i in (4, 3))", "True"),
        ("all([x == 6, y == 5])", "False"),
        ("[1, 2, 3][-1] + (4, 5)[0]", "7"),
        ("sorted([3, 1, 2])", "[1, 2, 3]"),
        ("math.log2(8) + math.ceil(1.2) + math.gcd(x, y)", "7.0"),
        ("lambda x, y: x * y <= 24", "True"),
        ("lambda p: p[\"x\"] * p['y'] <= 23", "False"),
        ("9007199254740993 == 9007199254740992.0", "False"),
        ("9007199254740993 > 9007199254740992.0", "True"),
        ("(1,)", "[1]"),
        ("[]", "[]"),
        ("True and False", "False"),
    ] {
        let found = value(text).map_or_else(|_| "error".to_owned(), |it| it.to_string());
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn errors_say_where_and_what() {
    for (text, kind, expected) in [
        ("x +", ErrorKind::Syntax, "column 4: expected a value, found the end"),
        ("x && y", ErrorKind::Syntax, "column 3: expected an operator, found `&&`; Python has `and`"),
        ("x = 3", ErrorKind::Syntax, "column 3: expected an operator, found `=`; a comparison is `==`"),
        ("(x", ErrorKind::Syntax, "column 3: expected `)`, found the end"),
        ("x $ y", ErrorKind::Syntax, "column 3: unexpected `$`"),
        ("'abc", ErrorKind::Syntax, "column 1: the text has no end"),
        ("3 + width", ErrorKind::UnknownName, "column 5: unknown name `width`"),
        ("1 + X", ErrorKind::UnknownName, "column 5: unknown name `X`; the nearest is `x`"),
        ("minn(x, y)", ErrorKind::UnknownName, "column 1: unknown function `minn`; the nearest is `min`"),
        ("1 + x % z", ErrorKind::DivisionByZero, "column 7: division by zero"),
        ("x / z", ErrorKind::DivisionByZero, "column 3: division by zero"),
        ("1.0 // 0.0", ErrorKind::DivisionByZero, "column 5: division by zero"),
        ("0 ** -1", ErrorKind::DivisionByZero, "column 3: division by zero"),
        ("t < 3", ErrorKind::Type, "column 3: a text is not compared with an integer by size"),
        ("t * 3", ErrorKind::Type, "column 3: a text and an integer have no such operator"),
        ("len(3)", ErrorKind::Type, "column 1: `len` does not take an integer"),
        ("min([])", ErrorKind::Type, "column 1: `min` of an empty list"),
        ("[1][1]", ErrorKind::Type, "column 4: element 1 of a list of 1"),
        ("10**19", ErrorKind::TooLarge, "column 3: the result is no integer of 64 bits"),
        ("10**12 * 10**12", ErrorKind::TooLarge, "column 8: the result is no integer of 64 bits"),
        (
            "range(10**12)",
            ErrorKind::TooLarge,
            "column 1: a range of 1000000000000 values; the limit is 100000",
        ),
        ("10.0**400", ErrorKind::TooLarge, "column 5: the power is no finite real number"),
        (
            "99999999999999999999",
            ErrorKind::TooLarge,
            "column 1: `99999999999999999999` is no integer of 64 bits",
        ),
        ("os.cpus()", ErrorKind::Syntax, "column 3: expected an operator, found `.`"),
    ] {
        let error = value(text).expect_err(text);
        assert_eq!((error.kind, error.to_string().as_str()), (kind, expected), "{text}");
    }
}

#[test]
fn size_depth_and_time_are_bounded() {
    let nested = |open: &str, close: &str, n: usize| format!("{}1{}", open.repeat(n), close.repeat(n));
    let slow = "sum(sum(sum(k for k in range(j)) for j in range(i)) for i in range(1000))";
    for text in [
        nested("(", ")", 100_000),
        nested("[", "]", 20_000),
        nested("-", "", 60_000),
        nested("not ", "", 10_000),
        nested("1 if 1 else ", "", 5_000),
        format!("1{}", " + 1".repeat(10_000)),
        format!("1{}", "**1".repeat(10_000)),
        slow.to_owned(),
        "[[0 for i in range(1000)] for j in range(1000)]".to_owned(),
        "1".repeat(100_000),
    ] {
        let error = value(&text).expect_err(&text[..text.len().min(40)]);
        assert_eq!(error.kind, ErrorKind::TooLarge, "{error}");
    }
    assert_eq!(value(&nested("(", ")", 20)), Ok(Value::Int(1)));
    assert_eq!(value(&format!("1{}", " + 1".repeat(150))), Ok(Value::Int(151)));
}
