//! Which agent or session a few words mean: a project, a branch, the agent's name, or words of the prompt.
//!
//! Pure. Returns every candidate that fits equally well; the caller asks which one is meant.

/// The words by which a user may name an agent or a session.
#[derive(Clone, Copy, Debug, Default)]
pub struct Callable<'a> {
    pub agent: &'a str,
    pub project: Option<&'a str>,
    pub branch: Option<&'a str>,
    /// The prompt, or whatever else is shown of it.
    pub words: &'a str,
}

impl Callable<'_> {
    /// How well the text fits: 0 is best.
    fn rank(&self, wanted: &str) -> Option<usize> {
        let wanted = wanted.to_lowercase();
        let [agent, project, branch, words] =
            [self.agent, self.project.unwrap_or_default(), self.branch.unwrap_or_default(), self.words]
                .map(str::to_lowercase);
        let path = format!("{project}/{branch}");
        let names = [project.as_str(), branch.as_str(), path.as_str(), agent.as_str()];
        let everything = format!("{agent} {path} {words}");
        let fits = [
            names.contains(&wanted.as_str()),
            names.iter().any(|name| name.starts_with(&wanted)),
            path.contains(&wanted),
            wanted.split_whitespace().all(|word| everything.contains(word)),
            has_letters_in_order(&path, &wanted),
        ];
        fits.iter().position(|fits| *fits).filter(|_| !wanted.trim().is_empty())
    }
}

/// Whether the text contains all letters in this order, as in `chkout` for `checkout`. Two letters fit too much.
fn has_letters_in_order(text: &str, letters: &str) -> bool {
    let mut text = text.chars();
    letters.chars().count() > 2 && letters.chars().all(|letter| text.any(|other| other == letter))
}

/// The items that fit best, in their order.
pub fn best<'a, T>(items: &'a [T], wanted: &str, of: impl Fn(&'a T) -> Callable<'a>) -> Vec<&'a T> {
    let ranked: Vec<(usize, &T)> =
        items.iter().filter_map(|item| Some((of(item).rank(wanted)?, item))).collect();
    let least = ranked.iter().map(|(rank, _)| *rank).min();
    ranked.into_iter().filter(|(rank, _)| Some(*rank) == least).map(|(_, item)| item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [[&str; 3]; 4] = [
        ["shop", "main", "why did the checkout tests fail"],
        ["shop", "fix/rounding", "round half up"],
        ["shopkeeper", "main", "add a till"],
        ["docs", "main", "spell-check the tour"],
    ];

    #[track_caller]
    fn check(wanted: &str, expected: &[usize]) {
        let of = |item: &'static [&str; 3]| Callable {
            agent: if item[0] == "docs" { "heron" } else { "otter" },
            project: Some(item[0]),
            branch: Some(item[1]),
            words: item[2],
        };
        let found: Vec<&[&str; 3]> = best(&ALL, wanted, of);
        let expected: Vec<&[&str; 3]> = expected.iter().map(|index| &ALL[*index]).collect();
        assert_eq!(found, expected, "{wanted}");
    }

    #[test]
    fn a_whole_name_wins_over_a_part_and_a_part_over_words() {
        check("shop", &[0, 1]);
        check("Shopk", &[2]);
        check("rounding", &[1]);
        check("shop/main", &[0]);
        check("checkout fail", &[0]);
        check("main till", &[2]);
        check("shpkpr", &[2]);
        check("main", &[0, 2, 3]);
        check("heron", &[3]);
        check("otter till", &[2]);
        check("nothing like it", &[]);
        check("", &[]);
        check(" ", &[]);
    }
}
