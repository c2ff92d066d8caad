//! Text as tokens.

use crate::error::{ErrorKind, ExpressionError};
use crate::value::Value;

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Token {
    Value(Value),
    Name(String),
    /// An operator or bracket.
    Sign(&'static str),
    End,
}

impl Token {
    pub(crate) fn words(&self) -> String {
        match self {
            Token::Value(it) => format!("`{it}`"),
            Token::Name(it) => format!("`{it}`"),
            Token::Sign(it) => format!("`{it}`"),
            Token::End => "the end".to_owned(),
        }
    }
}

/// Longer signs first, so that `//` is not two divisions.
const SIGNS: [&str; 32] = [
    "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+", "-", "*", "/", "%", "<", ">", "(", ")",
    "[", "]", ",", ":", ".", "&", "|", "^", "~", "{", "}", "=", "!",
];

fn number(text: &str, at: usize) -> Result<Value, ExpressionError> {
    let plain = text.replace('_', "");
    let lower = plain.to_ascii_lowercase();
    for (prefix, base) in [("0x", 16), ("0b", 2), ("0o", 8)] {
        if let Some(digits) = lower.strip_prefix(prefix) {
            return i64::from_str_radix(digits, base).map(Value::Int).map_err(|_| {
                ExpressionError::new(at, ErrorKind::Syntax, format!("`{text}` is no integer of 64 bits"))
            });
        }
    }
    if plain.bytes().all(|it| it.is_ascii_digit()) {
        return plain.parse().map(Value::Int).map_err(|_| {
            ExpressionError::new(at, ErrorKind::TooLarge, format!("`{text}` is no integer of 64 bits"))
        });
    }
    match plain.parse::<f64>() {
        Ok(it) if it.is_finite() => Ok(Value::Float(it)),
        _ => Err(ExpressionError::new(at, ErrorKind::Syntax, format!("`{text}` is no number"))),
    }
}

/// Characters of the number at the beginning.
fn number_length(rest: &[char]) -> usize {
    let mut length = 0;
    while let Some(&c) = rest.get(length) {
        let exponent =
            length > 0 && matches!(rest[length - 1], 'e' | 'E') && !matches!(rest.get(1), Some('x' | 'X'));
        if c.is_ascii_alphanumeric() || c == '_' || c == '.' || (exponent && matches!(c, '+' | '-')) {
            length += 1;
        } else {
            break;
        }
    }
    length
}

/// Characters of the quoted text at the beginning, with its quotes, and the text.
fn quoted(rest: &[char]) -> Option<(usize, String)> {
    let quote = rest[0];
    let mut out = String::new();
    let mut at = 1;
    loop {
        match *rest.get(at)? {
            c if c == quote => return Some((at + 1, out)),
            '\\' => {
                at += 1;
                out.push(match *rest.get(at)? {
                    'n' => '\n',
                    't' => '\t',
                    c @ ('\\' | '\'' | '"') => c,
                    _ => return None,
                });
            }
            c => out.push(c),
        }
        at += 1;
    }
}

/// Tokens with the characters before each; the last is `End`.
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, usize)>, ExpressionError> {
    if text.len() > crate::LONGEST_TEXT {
        let message = format!("the expression has more than {} bytes", crate::LONGEST_TEXT);
        return Err(ExpressionError::new(0, ErrorKind::TooLarge, message));
    }
    let chars: Vec<char> = text.chars().collect();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < chars.len() {
        let (c, rest) = (chars[at], &chars[at..]);
        let start = at;
        let token = if c.is_whitespace() {
            at += 1;
            continue;
        } else if c.is_ascii_digit() || (c == '.' && rest.get(1).is_some_and(char::is_ascii_digit)) {
            at += number_length(rest);
            Token::Value(number(&chars[start..at].iter().collect::<String>(), start)?)
        } else if c.is_alphabetic() || c == '_' {
            at += rest.iter().take_while(|it| it.is_alphanumeric() || **it == '_').count();
            Token::Name(chars[start..at].iter().collect())
        } else if c == '"' || c == '\'' {
            let Some((length, it)) = quoted(rest) else {
                return Err(ExpressionError::new(start, ErrorKind::Syntax, "the text has no end"));
            };
            at += length;
            Token::Value(Value::Text(it))
        } else if let Some(sign) = SIGNS.iter().find(|sign| {
            let mut signs = sign.chars().enumerate();
            signs.all(|(k, c)| rest.get(k) == Some(&c))
        }) {
            at += sign.len();
            Token::Sign(sign)
        } else {
            return Err(ExpressionError::new(start, ErrorKind::Syntax, format!("unexpected `{c}`")));
        };
        out.push((token, start));
    }
    out.push((Token::End, chars.len()));
    Ok(out)
}
