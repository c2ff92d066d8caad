//! Tokens as a tree, by precedence climbing.

use crate::call::Function;
use crate::error::{ErrorKind, ExpressionError, unknown};
use crate::lex::{Token, tokens};
use crate::tree::{Binary, Comparison, Expression, Node, NodeId};
use crate::value::Value;

/// Words that are not names.
const KEYWORDS: [&str; 9] = ["and", "or", "not", "in", "if", "else", "for", "lambda", "is"];

/// Operators from the loosest to the tightest, but for `**`.
const LEVELS: [&[(&str, Binary)]; 6] = [
    &[("|", Binary::Or)],
    &[("^", Binary::Xor)],
    &[("&", Binary::And)],
    &[("<<", Binary::ShiftLeft), (">>", Binary::ShiftRight)],
    &[("+", Binary::Add), ("-", Binary::Subtract)],
    &[("*", Binary::Multiply), ("/", Binary::Divide), ("//", Binary::FloorDivide), ("%", Binary::Remainder)],
];

struct Parser {
    tokens: Vec<(Token, usize)>,
    next: usize,
    /// Open brackets, so that the parser's own recursion is bounded.
    open: u32,
    depths: Vec<u32>,
    /// Variables of comprehensions that are visible.
    locals: Vec<String>,
    /// Parameter of `lambda p: p["x"]`, whose elements are names.
    configuration: Option<String>,
    out: Expression,
}

type Parsed = Result<NodeId, ExpressionError>;

impl Expression {
    /// Parses a text. `lambda p: p["x"] <= 8` and `lambda x, y: x * y <= 8`, as Kernel Tuner has them, are their bodies.
    ///
    /// # Errors
    /// If the text is not an expression of this language or exceeds a limit.
    pub fn parse(text: &str) -> Result<Expression, ExpressionError> {
        let out = Expression {
            text: text.to_owned(),
            nodes: Vec::new(),
            places: Vec::new(),
            names: Vec::new(),
            name_places: Vec::new(),
            locals: 0,
        };
        let (depths, locals) = (Vec::new(), Vec::new());
        let mut parser =
            Parser { tokens: tokens(text)?, next: 0, open: 0, depths, locals, configuration: None, out };
        if parser.word("lambda") {
            parser.lambda()?;
        }
        parser.condition()?;
        match parser.peek() {
            Token::End => Ok(parser.out),
            _ => Err(parser.unexpected("an operator")),
        }
    }
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.next].0
    }

    fn at(&self) -> usize {
        self.tokens[self.next].1
    }

    fn sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(it) if *it == sign);
        self.next += usize::from(found);
        found
    }

    fn word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Name(it) if it == word);
        self.next += usize::from(found);
        found
    }

    fn unexpected(&self, expected: &str) -> ExpressionError {
        let hint = match self.peek() {
            Token::Sign("&&") => "; Python has `and`",
            Token::Sign("||") => "; Python has `or`",
            Token::Sign("!") => "; Python has `not`",
            Token::Sign("=") => "; a comparison is `==`",
            _ => "",
        };
        let message = format!("expected {expected}, found {}{hint}", self.peek().words());
        ExpressionError::new(self.at(), ErrorKind::Syntax, message)
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), ExpressionError> {
        if self.sign(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    fn name(&mut self, expected: &str) -> Result<String, ExpressionError> {
        match self.peek() {
            Token::Name(it) if !KEYWORDS.contains(&it.as_str()) => {
                let it = it.clone();
                self.next += 1;
                Ok(it)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    fn add(&mut self, node: Node, at: usize, parts: &[NodeId]) -> Parsed {
        let depth = 1 + parts.iter().map(|&it| self.depths[it as usize]).max().unwrap_or(0);
        if depth > crate::DEEPEST {
            return Err(self.too_deep(at));
        }
        self.depths.push(depth);
        self.out.nodes.push(node);
        self.out.places.push(at as u32);
        Ok(self.out.nodes.len() as NodeId - 1)
    }

    fn too_deep(&self, at: usize) -> ExpressionError {
        let message = format!("the expression is nested more than {} deep", crate::DEEPEST);
        ExpressionError::new(at, ErrorKind::TooLarge, message)
    }

    /// Enters a level of the parser's recursion.
    fn enter(&mut self) -> Result<(), ExpressionError> {
        self.open += 1;
        if self.open > crate::DEEPEST / 4 { Err(self.too_deep(self.at())) } else { Ok(()) }
    }

    fn lambda(&mut self) -> Result<(), ExpressionError> {
        let mut parameters = vec![self.name("a parameter")?];
        while self.sign(",") {
            parameters.push(self.name("a parameter")?);
        }
        self.expect(":")?;
        if let [only] = &parameters[..] {
            // `lambda p: p["x"]`: one parameter that is indexed by a text is the configuration.
            let indexed = self.tokens.windows(3).any(|it| {
                matches!(&it[0].0, Token::Name(name) if name == only)
                    && it[1].0 == Token::Sign("[")
                    && matches!(it[2].0, Token::Value(Value::Text(_)))
            });
            if indexed {
                self.configuration = Some(only.clone());
            }
        }
        Ok(())
    }

    /// `a if condition else b`
    fn condition(&mut self) -> Parsed {
        self.enter()?;
        let at = self.at();
        let mut value = self.or()?;
        if self.word("if") {
            let condition = self.or()?;
            if !self.word("else") {
                return Err(self.unexpected("`else`"));
            }
            let other = self.condition()?;
            value = self.add(Node::If(condition, value, other), at, &[condition, value, other])?;
        }
        self.open -= 1;
        Ok(value)
    }

    fn or(&mut self) -> Parsed {
        let mut left = self.and()?;
        loop {
            let at = self.at();
            if !self.word("or") {
                return Ok(left);
            }
            let right = self.and()?;
            left = self.add(Node::Or(left, right), at, &[left, right])?;
        }
    }

    fn and(&mut self) -> Parsed {
        let mut left = self.not()?;
        loop {
            let at = self.at();
            if !self.word("and") {
                return Ok(left);
            }
            let right = self.not()?;
            left = self.add(Node::And(left, right), at, &[left, right])?;
        }
    }

    fn not(&mut self) -> Parsed {
        let at = self.at();
        if !self.word("not") {
            return self.comparison();
        }
        self.enter()?;
        let value = self.not()?;
        self.open -= 1;
        self.add(Node::Not(value), at, &[value])
    }

    fn comparison_sign(&mut self) -> Option<Comparison> {
        let signs = [
            ("==", Comparison::Equal),
            ("!=", Comparison::NotEqual),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        for (sign, comparison) in signs {
            if self.sign(sign) {
                return Some(comparison);
            }
        }
        if self.word("in") {
            return Some(Comparison::In);
        }
        let not_in = matches!(self.tokens.get(self.next + 1), Some((Token::Name(it), _)) if it == "in");
        if not_in && self.word("not") {
            self.next += 1;
            return Some(Comparison::NotIn);
        }
        None
    }

    fn comparison(&mut self) -> Parsed {
        let first = self.binary(0)?;
        let (mut chain, mut parts, mut place) = (Vec::new(), vec![first], self.at());
        loop {
            let at = self.at();
            let Some(comparison) = self.comparison_sign() else { break };
            if chain.is_empty() {
                place = at;
            }
            let next = self.binary(0)?;
            chain.push((comparison, next));
            parts.push(next);
        }
        if chain.is_empty() { Ok(first) } else { self.add(Node::Compare(first, chain), place, &parts) }
    }

    fn binary(&mut self, level: usize) -> Parsed {
        let Some(&operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        loop {
            let at = self.at();
            let found = match self.peek() {
                Token::Sign(sign) => operators.iter().find(|it| it.0 == *sign).map(|it| it.1),
                _ => None,
            };
            let Some(operator) = found else { return Ok(left) };
            self.next += 1;
            let right = self.binary(level + 1)?;
            left = self.add(Node::Binary(operator, left, right), at, &[left, right])?;
        }
    }

    fn unary(&mut self) -> Parsed {
        let at = self.at();
        self.enter()?;
        let value = if self.sign("-") {
            let it = self.unary()?;
            self.add(Node::Negate(it), at, &[it])?
        } else if self.sign("+") {
            self.unary()?
        } else if self.sign("~") {
            let it = self.unary()?;
            self.add(Node::Invert(it), at, &[it])?
        } else {
            self.power()?
        };
        self.open -= 1;
        Ok(value)
    }

    fn power(&mut self) -> Parsed {
        let base = self.postfix()?;
        let at = self.at();
        if !self.sign("**") {
            return Ok(base);
        }
        // Binds to the right, and looser than the sign of its exponent.
        let exponent = self.unary()?;
        self.add(Node::Binary(Binary::Power, base, exponent), at, &[base, exponent])
    }

    fn postfix(&mut self) -> Parsed {
        let mut value = self.atom()?;
        loop {
            let at = self.at();
            if !self.sign("[") {
                return Ok(value);
            }
            let index = self.condition()?;
            self.expect("]")?;
            value = self.add(Node::Index(value, index), at, &[value, index])?;
        }
    }

    fn atom(&mut self) -> Parsed {
        let at = self.at();
        match self.peek().clone() {
            Token::Value(it) => {
                self.next += 1;
                self.add(Node::Literal(it), at, &[])
            }
            Token::Sign("(") => {
                self.next += 1;
                self.bracketed(")", at)
            }
            Token::Sign("[") => {
                self.next += 1;
                self.bracketed("]", at)
            }
            Token::Name(name) if !KEYWORDS.contains(&name.as_str()) => {
                self.next += 1;
                self.named(name, at)
            }
            _ => Err(self.unexpected("a value")),
        }
    }

    /// A parenthesis, tuple, list or comprehension after its opening bracket.
    fn bracketed(&mut self, close: &'static str, at: usize) -> Parsed {
        if let Some(it) = self.comprehension()? {
            self.expect(close)?;
            return Ok(it);
        }
        let (mut parts, mut comma) = (Vec::new(), false);
        while !self.sign(close) {
            parts.push(self.condition()?);
            comma = self.sign(",");
            if !comma {
                self.expect(close)?;
                break;
            }
        }
        match parts[..] {
            [only] if close == ")" && !comma => Ok(only),
            _ => self.add(Node::List(parts.clone()), at, &parts),
        }
    }

    /// The tokens of `element for x in list if condition`, or nothing where no `for` belongs to these brackets.
    fn comprehension(&mut self) -> Result<Option<NodeId>, ExpressionError> {
        let (start, mut depth, mut found) = (self.next, 0u32, None);
        for (at, (token, _)) in self.tokens[start..].iter().enumerate() {
            match token {
                Token::Sign("(" | "[" | "{") => depth += 1,
                Token::Sign(")" | "]" | "}") if depth == 0 => break,
                Token::Sign(")" | "]" | "}") => depth -= 1,
                Token::Name(it) if it == "for" && depth == 0 => {
                    found = Some(start + at);
                    break;
                }
                _ => {}
            }
        }
        let Some(place) = found else { return Ok(None) };
        let at = self.tokens[place].1;
        // The element comes first in the text and needs the variable, so the list is parsed before it.
        self.next = place + 1;
        let variable = self.name("a variable")?;
        if !self.word("in") {
            return Err(self.unexpected("`in`"));
        }
        let list = self.or()?;
        self.locals.push(variable);
        self.out.locals = self.out.locals.max(self.locals.len() as u32);
        let condition = if self.word("if") { Some(self.or()?) } else { None };
        let end = self.next;
        self.next = start;
        let element = self.condition()?;
        if self.next != place {
            return Err(self.unexpected("`for`"));
        }
        self.next = end;
        self.locals.pop();
        let local = self.locals.len() as u32;
        let parts: Vec<NodeId> = [element, list].into_iter().chain(condition).collect();
        self.add(Node::Comprehension { element, local, list, condition }, at, &parts).map(Some)
    }

    fn named(&mut self, mut name: String, at: usize) -> Parsed {
        match name.as_str() {
            "True" => return self.add(Node::Literal(Value::Bool(true)), at, &[]),
            "False" => return self.add(Node::Literal(Value::Bool(false)), at, &[]),
            _ => {}
        }
        if let Some(local) = self.locals.iter().rposition(|it| *it == name) {
            return self.add(Node::Local(local as u32), at, &[]);
        }
        if matches!(name.as_str(), "math" | "np" | "numpy") && self.sign(".") {
            name = self.name("a function")?;
        }
        if self.configuration.as_ref() == Some(&name) {
            self.expect("[")?;
            let Token::Value(Value::Text(key)) = self.peek().clone() else {
                return Err(self.unexpected("the name of a parameter in quotes"));
            };
            self.next += 1;
            self.expect("]")?;
            return self.parameter(key, at);
        }
        if matches!(self.peek(), Token::Sign("(")) {
            return self.call(&name, at);
        }
        self.parameter(name, at)
    }

    fn parameter(&mut self, name: String, at: usize) -> Parsed {
        let place = self.out.names.iter().position(|it| *it == name).unwrap_or_else(|| {
            self.out.names.push(name);
            self.out.name_places.push(at as u32);
            self.out.names.len() - 1
        });
        self.add(Node::Name(place as u32), at, &[])
    }

    fn call(&mut self, name: &str, at: usize) -> Parsed {
        let Some(function) = Function::ALL.iter().find(|it| it.name() == name).copied() else {
            let message = unknown("function", name, Function::ALL.iter().map(|it| it.name()));
            return Err(ExpressionError::new(at, ErrorKind::UnknownName, message));
        };
        self.expect("(")?;
        let mut arguments = Vec::new();
        if let Some(it) = self.comprehension()? {
            self.expect(")")?;
            arguments.push(it);
        } else {
            while !self.sign(")") {
                arguments.push(self.condition()?);
                if !self.sign(",") {
                    self.expect(")")?;
                    break;
                }
            }
        }
        let (least, most) = function.arguments();
        if arguments.len() < least || arguments.len() > most {
            let message = format!("`{name}` does not take {} arguments", arguments.len());
            return Err(ExpressionError::new(at, ErrorKind::Syntax, message));
        }
        self.add(Node::Call(function, arguments.clone()), at, &arguments)
    }
}
