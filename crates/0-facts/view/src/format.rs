//! Output formats.

/// An output format. A command has some of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON document with a schema.
    Json,
    /// Rows for spreadsheets and scripts.
    Csv,
    /// For issues, wikis and pull requests.
    Markdown,
    /// SARIF 2.1.0, for code scanning: findings only.
    Sarif,
    /// Annotations of GitHub workflows: findings only.
    Github,
    /// JUnit's XML: a test for each thing judged.
    Junit,
    /// An SQLite database.
    Db,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 8] = [
        Format::Text,
        Format::Json,
        Format::Csv,
        Format::Markdown,
        Format::Sarif,
        Format::Github,
        Format::Junit,
        Format::Db,
    ];

    /// The word on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Json => "json",
            Format::Csv => "csv",
            Format::Markdown => "markdown",
            Format::Sarif => "sarif",
            Format::Github => "github",
            Format::Junit => "junit",
            Format::Db => "db",
        }
    }

    /// One line of help.
    pub const fn help(self) -> &'static str {
        match self {
            Format::Text => "For people",
            Format::Json => "One document; docs/schema has its schema",
            Format::Csv => "Rows for spreadsheets and scripts",
            Format::Markdown => "For issues, wikis and pull requests",
            Format::Sarif => "SARIF 2.1.0, for code scanning: findings only",
            Format::Github => "Annotations of GitHub workflows: findings only",
            Format::Junit => "JUnit's XML, for reports of tests: a test for each candidate",
            Format::Db => {
                "An SQLite database with the views of the vendor's analysis databases; needs `-o FILE.db`"
            }
        }
    }

    /// True if a program reads the output: nothing is omitted for lack of space.
    pub const fn is_for_programs(self) -> bool {
        !matches!(self, Format::Text | Format::Markdown)
    }
}
