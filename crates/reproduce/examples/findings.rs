//! Writes the pages made of results: `cargo run -p harmonia-reproduce --example findings`.
//!
//! Reads `experiments/results.json`, the committed results; writes `docs/findings.md`, `docs/figures/` and the claims
//! of `docs/validation.md`. A test (`tests/pages.rs`) fails when a committed page is stale.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use harmonia_reproduce::{Results, findings};

/// What stands around the claims in `docs/validation.md`.
const BEGIN: &str = "<!-- claims: written by `make findings` -->\n";
const END: &str = "<!-- end of claims -->\n";

fn main() -> io::Result<()> {
    fs::create_dir_all(root().join("docs/figures"))?;
    for stale in stale_figures()? {
        fs::remove_file(stale)?;
    }
    for (path, text) in pages()? {
        fs::write(root().join(path), text)?;
    }
    Ok(())
}

/// The root of the project.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The committed results.
pub fn results() -> io::Result<Results> {
    let text = fs::read_to_string(root().join("experiments/results.json"))?;
    Results::from_json(&text).map_err(io::Error::other)
}

/// Every page with its path below the root.
pub fn pages() -> io::Result<Vec<(String, String)>> {
    let pages = findings::pages(&results()?);
    let mut all = vec![("docs/findings.md".to_owned(), pages.findings)];
    all.extend(pages.figures.into_iter().map(|(name, figure)| (format!("docs/figures/{name}"), figure)));
    let validation = fs::read_to_string(root().join("docs/validation.md"))?;
    let parts =
        validation.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let Some((before, after)) = parts else {
        return Err(io::Error::other(format!("docs/validation.md lacks {BEGIN:?} or {END:?}")));
    };
    all.push(("docs/validation.md".to_owned(), format!("{before}{BEGIN}{}{END}{after}", pages.claims)));
    Ok(all)
}

/// Figures in the folder that no page shows.
pub fn stale_figures() -> io::Result<Vec<PathBuf>> {
    let wanted: Vec<PathBuf> = pages()?.into_iter().map(|(path, _)| root().join(path)).collect();
    let present = fs::read_dir(root().join("docs/figures"))?.map(|entry| entry.map(|entry| entry.path()));
    let present = present.collect::<io::Result<Vec<PathBuf>>>()?;
    Ok(present.into_iter().filter(|path| !wanted.contains(path)).collect())
}
