//! `named_enum!`: an enum whose variants have one name each, in rows, settings and JSON. `stored_enum!`: one that serde
//! reads and writes by these names too.
//!
//! For enums without fields. A variant and its name are written once; `ALL` has the order of declaration.

#[macro_export]
macro_rules! named_enum {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident $(as $parse:ident)? {
            $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)+
        }
    ) => {
        $(#[$meta])*
        $vis enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $name {
            pub const ALL: [$name; [$($text),+].len()] = [$($name::$variant),+];

            pub fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)+
                }
            }

            $(
                /// The inverse of `name`.
                pub fn $parse(name: &str) -> Option<$name> {
                    $name::ALL.into_iter().find(|variant| variant.name() == name)
                }
            )?
        }
    };
}

macro_rules! stored_enum {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident $(as $parse:ident)? {
            $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)+
        }
    ) => {
        named_enum! {
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
            $vis enum $name $(as $parse)? {
                $($(#[$variant_meta])* #[serde(rename = $text)] $variant = $text,)+
            }
        }
    };
}
