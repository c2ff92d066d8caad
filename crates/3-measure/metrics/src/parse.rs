//! Expressions: text to tree.
//!
//! The language has numbers, names and arithmetic. The only functions are those listed in [`Function`], so a
//! definitions file can only compute.
//!
//! ```text
//! expression := sum [ "else" sum ]
//! sum        := product (("+" | "-") product)*
//! product    := factor (("*" | "/") factor)*
//! factor     := "-" factor | "(" expression ")" | number ["[" unit "]"]
//!             | COUNTER ["[channel]" | "[channels]"] ["@" LEVEL] | "level(" COUNTER ")" | "window(" COUNTER ["@" LEVEL] ")"
//!             | ("largest(" | "least(") COUNTER ")"
//!             | function "(" expression ("," expression)* ")" | name
//! ```

use crate::unit::Unit;
use counters::OfInstances;

/// Functions of expressions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Function {
    /// Lesser of two.
    Min,
    /// Greater of two.
    Max,
    /// Nearest whole number, halves to even.
    Round,
    /// Next whole number below.
    Floor,
    /// Remainder.
    Mod,
    /// Average over the dispatches, as one number.
    Mean,
}

const FUNCTIONS: &[(&str, Function, usize)] = &[
    ("min", Function::Min, 2),
    ("max", Function::Max, 2),
    ("round", Function::Round, 1),
    ("floor", Function::Floor, 1),
    ("mod", Function::Mod, 2),
    ("mean", Function::Mean, 1),
];

const OF_INSTANCES: &[(&str, OfInstances)] =
    &[("largest", OfInstances::Largest), ("least", OfInstances::Least)];

/// Arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operator {
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient; a zero below gives no value.
    Divide,
    /// The right where the left has no value.
    Else,
}

/// A node and where it begins, as a column of its line.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Expression {
    /// Column, 1-based, in characters.
    pub(crate) column: usize,
    /// Kind of node.
    pub(crate) kind: Kind,
}

/// Which instances of a counter are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Instances {
    /// Their sum as it was recorded.
    Sum,
    /// One channel.
    Channel,
    /// The channels added up, also where a sum was recorded in another pass.
    Channels,
}

impl Instances {
    /// Each with what follows the counter.
    const ALL: [(Instances, &'static str); 2] =
        [(Instances::Channel, "[channel]"), (Instances::Channels, "[channels]")];
}

/// Kinds of nodes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Kind {
    /// A number with its unit.
    Number(f64, Unit),
    /// A counter summed over its instances, or of one channel; of the main run, or of the run of a level.
    Counter {
        /// Plain name.
        name: String,
        /// Which of its instances.
        of: Instances,
        /// Level in whose run it was read.
        run: Option<String>,
    },
    /// A level summed over cycles.
    Level(String),
    /// One value of all instances of a counter that is not their sum.
    OfInstances(OfInstances, String),
    /// Cycles of the dispatch by the counter of a window that can be longer.
    Window {
        /// The counter.
        name: String,
        /// Level whose run the window is of.
        run: Option<String>,
    },
    /// Something named elsewhere: a definition, a fact, a property of the dispatch.
    Name(String),
    /// Minus.
    Negative(Box<Expression>),
    /// Two operands.
    Binary(Operator, Box<Expression>, Box<Expression>),
    /// A call.
    Call(Function, Vec<Expression>),
}

/// Reason why text is not an expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Wrong {
    /// Column, 1-based, within the text.
    pub(crate) column: usize,
    /// The error.
    pub(crate) message: String,
}

/// Nesting allowed in an expression.
const DEPTH: usize = 64;

/// Parses an expression that begins at `column` of its line.
pub(crate) fn expression(text: &str, column: usize) -> Result<Expression, Wrong> {
    let mut p = Parser { text, at: 0, start: column, depth: 0 };
    let e = p.expression()?;
    p.space();
    if p.at < text.len() {
        return Err(p.wrong("expected an operator"));
    }
    Ok(e)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    start: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn column(&self) -> usize {
        self.start + self.text[..self.at].chars().count()
    }

    fn wrong(&self, message: impl Into<String>) -> Wrong {
        Wrong { column: self.column(), message: message.into() }
    }

    fn space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn peek(&mut self) -> Option<char> {
        self.space();
        self.text[self.at..].chars().next()
    }

    fn eat(&mut self, c: char) -> bool {
        if self.peek() == Some(c) {
            self.at += c.len_utf8();
            return true;
        }
        false
    }

    fn expect(&mut self, c: char) -> Result<(), Wrong> {
        if self.eat(c) { Ok(()) } else { Err(self.wrong(format!("expected `{c}`"))) }
    }

    fn word(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let end =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn expression(&mut self) -> Result<Expression, Wrong> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.wrong("nested too deeply"));
        }
        let left = self.sum()?;
        self.space();
        let rest = &self.text[self.at..];
        let after =
            rest.strip_prefix("else").filter(|r| !r.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
        let out = if after.is_some() {
            let column = self.column();
            self.at += 4;
            let right = self.sum()?;
            binary(Operator::Else, column, left, right)
        } else {
            left
        };
        self.depth -= 1;
        Ok(out)
    }

    fn sum(&mut self) -> Result<Expression, Wrong> {
        let mut left = self.product()?;
        while let Some(c @ ('+' | '-')) = self.peek() {
            let column = self.column();
            self.at += 1;
            let right = self.product()?;
            left = binary(if c == '+' { Operator::Add } else { Operator::Subtract }, column, left, right);
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expression, Wrong> {
        let mut left = self.factor()?;
        while let Some(c @ ('*' | '/')) = self.peek() {
            let column = self.column();
            self.at += 1;
            let right = self.factor()?;
            left = binary(if c == '*' { Operator::Multiply } else { Operator::Divide }, column, left, right);
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Expression, Wrong> {
        let Some(c) = self.peek() else { return Err(self.wrong("expected a value")) };
        let column = self.column();
        let kind = match c {
            '-' => {
                self.at += 1;
                self.depth += 1;
                if self.depth > DEPTH {
                    return Err(self.wrong("nested too deeply"));
                }
                let inner = self.factor()?;
                self.depth -= 1;
                Kind::Negative(Box::new(inner))
            }
            '(' => {
                self.at += 1;
                let inner = self.expression()?;
                self.expect(')')?;
                return Ok(inner);
            }
            '0'..='9' => self.number()?,
            'A'..='Z' => self.counter()?,
            'a'..='z' => self.name()?,
            other => return Err(self.wrong(format!("unexpected `{other}`"))),
        };
        Ok(Expression { column, kind })
    }

    fn number(&mut self) -> Result<Kind, Wrong> {
        let column = self.column();
        let word = self.word();
        let value = word
            .parse::<f64>()
            .ok()
            .filter(|v| v.is_finite())
            .ok_or_else(|| Wrong { column, message: format!("`{word}` is no number") })?;
        let mut unit = Unit::ONE;
        if self.text[self.at..].starts_with('[') {
            self.at += 1;
            let column = self.column();
            let rest = &self.text[self.at..];
            let Some(end) = rest.find(']') else { return Err(self.wrong("expected `]`")) };
            unit = Unit::parse(&rest[..end]).map_err(|message| Wrong { column, message })?;
            self.at += end + 1;
        }
        Ok(Kind::Number(value, unit))
    }

    fn counter(&mut self) -> Result<Kind, Wrong> {
        let name = self.word().to_string();
        let found = Instances::ALL.iter().find(|it| self.text[self.at..].starts_with(it.1));
        if let Some((_, text)) = found {
            self.at += text.len();
        } else if self.text[self.at..].starts_with('[') {
            return Err(self.wrong("only `[channel]` or `[channels]` may follow a counter"));
        }
        let of = found.map_or(Instances::Sum, |it| it.0);
        let mut run = None;
        if self.text[self.at..].starts_with('@') {
            self.at += 1;
            let level = self.word();
            if level.is_empty() {
                return Err(self.wrong("expected a level counter after `@`"));
            }
            run = Some(level.to_string());
        }
        Ok(Kind::Counter { name, of, run })
    }

    fn name(&mut self) -> Result<Kind, Wrong> {
        let column = self.column();
        let name = self.word();
        if !self.text[self.at..].starts_with('(') {
            return Ok(Kind::Name(name.to_string()));
        }
        self.at += 1;
        if name == "level" {
            self.space();
            let level = self.word().to_string();
            self.expect(')')?;
            return Ok(Kind::Level(level));
        }
        if let Some((_, of)) = OF_INSTANCES.iter().find(|(word, _)| *word == name) {
            self.space();
            let counter = self.word().to_string();
            self.expect(')')?;
            return Ok(Kind::OfInstances(*of, counter));
        }
        if name == "window" {
            self.space();
            let column = self.column();
            return match self.counter()? {
                Kind::Counter { name, of: Instances::Sum, run }
                    if name.starts_with(|c: char| c.is_ascii_uppercase()) =>
                {
                    self.expect(')')?;
                    Ok(Kind::Window { name, run })
                }
                _ => Err(Wrong { column, message: "`window` takes a counter".to_string() }),
            };
        }
        let Some((_, function, arguments)) = FUNCTIONS.iter().find(|(n, _, _)| *n == name) else {
            return Err(Wrong { column, message: format!("unknown function `{name}`") });
        };
        let mut list = vec![self.expression()?];
        while self.eat(',') {
            list.push(self.expression()?);
        }
        self.expect(')')?;
        if list.len() != *arguments {
            return Err(Wrong {
                column,
                message: format!("`{name}` takes {arguments} values, not {}", list.len()),
            });
        }
        Ok(Kind::Call(*function, list))
    }
}

fn binary(operator: Operator, column: usize, left: Expression, right: Expression) -> Expression {
    Expression { column, kind: Kind::Binary(operator, Box::new(left), Box::new(right)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree in prefix form.
    fn show(e: &Expression) -> String {
        match &e.kind {
            Kind::Number(v, u) if *u == Unit::ONE => v.to_string(),
            Kind::Number(v, u) => format!("{v}[{u}]"),
            Kind::Counter { name, of, run } => format!(
                "{name}{}{}",
                Instances::ALL.iter().find(|it| it.0 == *of).map_or("", |it| it.1),
                run.as_ref().map_or(String::new(), |r| format!("@{r}"))
            ),
            Kind::Level(l) => format!("level({l})"),
            Kind::OfInstances(of, name) => format!("{of:?}({name})"),
            Kind::Window { name, run } => {
                format!("window({name}{})", run.as_ref().map_or(String::new(), |r| format!("@{r}")))
            }
            Kind::Name(n) => n.clone(),
            Kind::Negative(e) => format!("(neg {})", show(e)),
            Kind::Binary(o, a, b) => format!("({o:?} {} {})", show(a), show(b)),
            Kind::Call(f, a) => format!("({f:?} {})", a.iter().map(show).collect::<Vec<_>>().join(" ")),
        }
    }

    #[test]
    fn text_becomes_a_tree() {
        for (text, tree) in [
            ("1 + 2 * 3 - 4", "(Subtract (Add 1 (Multiply 2 3)) 4)"),
            ("-(a.b / SQ_WAVES) else 0", "(Else (neg (Divide a.b SQ_WAVES)) 0)"),
            ("64[B/req] * TCC_HIT[channel]", "(Multiply 64[B/req] TCC_HIT[channel])"),
            ("TCC_HIT[channels] + 1", "(Add TCC_HIT[channels] 1)"),
            (
                "level(SQ_IFETCH_LEVEL)/SQ_IFETCH@SQ_IFETCH_LEVEL",
                "(Divide level(SQ_IFETCH_LEVEL) SQ_IFETCH@SQ_IFETCH_LEVEL)",
            ),
            (
                "window(GRBM_GUI_ACTIVE) + window( GRBM_GUI_ACTIVE@SQ_LEVEL_WAVES )",
                "(Add window(GRBM_GUI_ACTIVE) window(GRBM_GUI_ACTIVE@SQ_LEVEL_WAVES))",
            ),
            ("max(a - b, 0.5)", "(Max (Subtract a b) 0.5)"),
            ("largest(TA_TA_BUSY) - least( TA_TA_BUSY )", "(Subtract Largest(TA_TA_BUSY) Least(TA_TA_BUSY))"),
            ("elsewhere", "elsewhere"),
        ] {
            assert_eq!(show(&expression(text, 1).unwrap()), tree, "{text}");
        }
    }

    #[test]
    fn errors_say_where() {
        let deep = "(".repeat(100);
        for (text, column) in [
            ("1 +", 4),
            ("1 2", 3),
            ("(1", 3),
            ("open(1)", 1),
            ("window(1)", 8),
            ("window(TCC_HIT[channel])", 8),
            ("min(1)", 1),
            ("2[GiB]", 3),
            ("TCC_HIT[3]", 8),
            ("é", 1),
            ("1.2.3", 1),
            (deep.as_str(), 65),
        ] {
            let e = expression(text, 1).unwrap_err();
            assert_eq!(e.column, column, "{text}");
            testkit::golden(text, &e.message);
        }
    }
}
