//! Enums whose variants have a name and a meaning.

/// Defines an enum of rows of variant, name and meaning; `ALL`, `name`, `meaning` and `by_name` follow from them.
#[macro_export]
macro_rules! named {
    ($(#[$note:meta])* pub enum $Enum:ident { $($Variant:ident $name:literal $meaning:literal)* }) => {
        $(#[$note])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $Enum {
            $(#[doc = $meaning] $Variant,)*
        }

        impl $Enum {
            /// All, in order.
            pub const ALL: &'static [$Enum] = &[$($Enum::$Variant,)*];

            /// How many there are.
            pub const COUNT: usize = $Enum::ALL.len();

            /// Name in files and tables.
            pub const fn name(self) -> &'static str {
                match self {
                    $($Enum::$Variant => $name,)*
                }
            }

            /// Meaning.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $($Enum::$Variant => $meaning,)*
                }
            }

            /// The one with a name.
            pub fn by_name(name: &str) -> Option<$Enum> {
                $Enum::ALL.iter().copied().find(|it| it.name() == name)
            }
        }
    };
}
