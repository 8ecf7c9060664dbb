//! Bundles the viewer's modules into one file: browsers spend milliseconds on every file, even a cached one.
//!
//! Not a JavaScript parser: relies on the form of our modules (one line per import, `export` at the start of
//! a line). Drops and minifies nothing; each module is also served by itself.

use std::fmt::Write as _;

/// Runs a module when it is first imported, as a browser does.
const HEAD: &str = "\"use strict\";\nconst made = {};\nconst take = (name) => (made[name] ??= modules[name]());\nconst modules = {\n";

/// Bundles modules, given as name and text, and runs the module `first`.
pub fn joined<'a>(modules: impl Iterator<Item = (&'a str, &'a str)>, first: &str) -> String {
    let mut text = HEAD.to_owned();
    for (name, module) in modules {
        let _ = writeln!(text, "\"./{name}\"() {{\n{}}},", body(module));
    }
    text + &format!("}};\ntake(\"./{first}\");\n")
}

/// A module as the body of a function that returns its exports.
fn body(module: &str) -> String {
    let (mut text, mut exported) = (String::new(), vec![]);
    for line in module.lines() {
        let line = match line.strip_prefix("export ") {
            Some(exporting) => {
                exported.extend(name_of(exporting));
                exporting.to_owned()
            }
            None => {
                taken(line).unwrap_or_else(|| line.replace("=> import(", "=> (async (name) => take(name))("))
            }
        };
        text += &line;
        text.push('\n');
    }
    let _ = writeln!(text, "return {{ {} }};", exported.join(", "));
    text
}

/// The identifier declared by `function name(…`, `const NAME = …` or `class Name …`.
fn name_of(exporting: &str) -> Option<&str> {
    let declared = exporting.strip_prefix("async ").unwrap_or(exporting);
    let (_, name) = declared.split_once(' ')?;
    name.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
}

/// Rewrites `import { a, b } from "./x.js";` and `import * as x from "./x.js";` to a call of `take`.
fn taken(line: &str) -> Option<String> {
    let (what, from) = line.strip_prefix("import ")?.split_once(" from ")?;
    let what = what.strip_prefix("* as ").unwrap_or(what);
    Some(format!("const {what} = take({});", from.strip_suffix(';')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_becomes_a_function_that_gives_what_it_exports() {
        let module = "import * as api from \"./api.js\";\nimport { h } from \"./dom.js\";\nexport const A = 1;\n\
            export async function ask(b) {\n  return api.get(h, b);\n}\nfunction own() {}\n";
        let expected = "const api = take(\"./api.js\");\nconst { h } = take(\"./dom.js\");\nconst A = 1;\n\
            async function ask(b) {\n  return api.get(h, b);\n}\nfunction own() {}\nreturn { A, ask };\n";
        assert_eq!(body(module), expected);
    }

    #[test]
    fn a_module_that_is_wanted_later_is_run_later() {
        let joined =
            joined([("app.js", "const later = () => import(\"./view.js\");\n")].into_iter(), "app.js");
        assert!(joined.contains("() => (async (name) => take(name))(\"./view.js\");"), "{joined}");
        assert!(joined.ends_with("};\ntake(\"./app.js\");\n"), "{joined}");
    }
}
