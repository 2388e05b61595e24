//! Links between Markdown files must lead somewhere. Links to the web are left alone: tests use no network.

use super::Finding;
use super::tree::Tree;

pub(super) fn local_links(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.files().filter(|(path, _)| path.ends_with(".md")) {
        for (line, target) in links(text).filter(|(_, target)| is_local(target)) {
            if !resolve(path, target).is_some_and(|resolved| tree.holds(&resolved)) {
                findings.push(Finding::new(
                    path,
                    line,
                    format!("the link to `{target}` is broken"),
                ));
            }
        }
    }
    findings
}

/// The target of each `[text](target)` and `[name]: target` outside code, with its line.
fn links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_fence = false;
    text.lines().enumerate().flat_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_fence ^= is_fence;
        let targets = if is_fence || in_fence { Vec::new() } else { line_links(line) };
        targets.into_iter().map(move |target| (index + 1, target))
    })
}

fn line_links(line: &str) -> Vec<&str> {
    let definition = line.strip_prefix('[').and_then(|rest| Some(rest.split_once("]: ")?.1));
    // Every second piece between backticks is code.
    let prose = line.split('`').step_by(2).collect::<Vec<_>>();
    // The text of a link may be code, so a target is looked for at the start of a piece, too.
    let inline = prose.into_iter().flat_map(|piece| {
        piece.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0))
    });
    definition.into_iter().chain(inline).filter_map(|it| it.split_whitespace().next()).collect()
}

fn is_local(target: &str) -> bool {
    let is_web = target.contains("://") || target.starts_with("mailto:");
    !is_web && !target.starts_with('#')
}

/// The path from the top folder, or nothing when the link leaves the project.
fn resolve(from: &str, target: &str) -> Option<String> {
    let file = target.split('#').next().unwrap_or(target);
    let mut folders: Vec<&str> = from.split('/').collect();
    folders.pop();
    for name in file.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(folders.pop()?),
            name => folders.push(name),
        }
    }
    (!file.starts_with('/')).then(|| folders.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;
    use super::*;

    #[test]
    fn links_that_lead_somewhere_pass() {
        let guide = "[up](../README.md), [`code`](usage.md#top \"title\"), [web](https://a.example/b)\n\
                     [here](#there) `[no](link)` [folder](../docs/) [top](..)\n```\n[no](link)\n```\n\
                     [name]: usage.md\n";
        let files = [("README.md", ""), ("docs/guide.md", guide), ("docs/usage.md", "")];
        assert!(places(local_links, &files).is_empty());
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let guide =
            "[a](missing.md)\n[b](../../outside.md)\n[c](/docs/guide.md)\n```\n```\n[d]: gone.md\n";
        assert_eq!(
            places(local_links, &[("docs/guide.md", guide)]),
            ["docs/guide.md:1", "docs/guide.md:2", "docs/guide.md:3", "docs/guide.md:6"]
        );
    }
}
