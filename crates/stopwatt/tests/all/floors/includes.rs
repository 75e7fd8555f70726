//! The files that a source takes in as it is compiled, by `include_str!` and its like.

use proc_macro2::{TokenStream, TokenTree};

/// The paths that a source names in `include!`, `include_str!` and `include_bytes!`, also within
/// macros. Of a path that `concat!` makes, the part before the first name that is no literal.
pub fn included(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    collect(text.parse().expect("the file compiles"), &mut found);
    found
}

fn collect(tokens: TokenStream, found: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        let name = at.checked_sub(2).map(|at| tokens[at].to_string());
        let is_call = at > 0 && tokens[at - 1].to_string() == "!";
        let is_include = name.is_some_and(|name| {
            ["include", "include_str", "include_bytes"].contains(&name.as_str())
        });
        match is_call && is_include {
            true => found.extend(start_of_path(group.stream())),
            false => collect(group.stream(), found),
        }
    }
}

/// The first text of a path; `None` where it starts with what the build script wrote.
fn start_of_path(tokens: TokenStream) -> Option<String> {
    match tokens.into_iter().last()? {
        TokenTree::Literal(literal) => Some(literal.to_string().trim_matches('"').to_owned()),
        TokenTree::Group(parts) => match parts.stream().into_iter().next()? {
            TokenTree::Literal(literal) => Some(literal.to_string().trim_matches('"').to_owned()),
            _ => None,
        },
        _ => None,
    }
}
