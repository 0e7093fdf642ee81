//! Writes the pages made of results: `cargo run -p harmonia-reproduce --example findings [RESULTS]`.
//!
//! Reads `experiments/results.json.zst`, the committed results, which are those of the file `RESULTS` from then on if there is
//! one. Writes `docs/findings.md`, `docs/figures/` and how many claims met which verdict in
//! `docs/validation.md`. A test (`tests/pages.rs`) fails when a committed page is stale.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use harmonia_reproduce::{Results, findings};

/// What stands around the claims in `docs/validation.md`.
const BEGIN: &str = "<!-- claims: written by `make findings` -->\n";
const END: &str = "<!-- end of claims -->\n";
/// The committed results, below the root. 7 MB of text are a tenth of that compressed.
const RESULTS: &str = "experiments/results.json.zst";
/// How hard zstd tries: the most that needs no more memory to read.
const LEVEL: i32 = 19;

fn main() -> io::Result<()> {
    if let Some(path) = std::env::args_os().nth(1) {
        commit(Path::new(&path))?;
    }
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
    let text = zstd::decode_all(fs::File::open(root().join(RESULTS))?)?;
    let text = std::str::from_utf8(&text).map_err(io::Error::other)?;
    Results::from_json(text).map_err(io::Error::other)
}

/// Makes the results in a file of a campaign the committed ones.
fn commit(path: &Path) -> io::Result<()> {
    let text = fs::read_to_string(path)?;
    Results::from_json(&text).map_err(io::Error::other)?;
    let whole = root().join(RESULTS);
    let part = whole.with_extension("part");
    fs::write(&part, zstd::encode_all(text.as_bytes(), LEVEL)?)?;
    fs::rename(part, whole)
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
