//! `harmonia cache`: where aged arrays are kept between commands, how much lies there, and to have it removed.
//!
//! The folder follows the XDG base directory specification: `harmonia/aged` in `$XDG_CACHE_HOME` if that is an
//! absolute path, else in `~/.cache`.

use std::path::PathBuf;

use harmonia_run::{AgedCache, CacheUsage};
use harmonia_tables::numbers::{bytes, count};
use serde::Serialize;

use crate::args::{CacheCommand, ListArguments};
use crate::failure::Failure;
use crate::files::shown;
use crate::output::Output;

/// The user's cache; `None` where there is no home to put it.
pub(crate) fn of_user(most_bytes: u64) -> Option<AgedCache> {
    folder().map(|folder| AgedCache::new(folder, most_bytes))
}

#[expect(clippy::disallowed_methods, reason = "where a user's cache lies is said by the environment")]
fn folder() -> Option<PathBuf> {
    let absolute = |name| std::env::var(name).ok().map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    base.map(|base| base.join("harmonia").join("aged"))
}

/// What `harmonia cache --json` prints.
#[derive(Serialize)]
struct Listing {
    path: PathBuf,
    files: usize,
    bytes: u64,
    most_bytes: u64,
}

/// Shows the cache, or empties it.
pub(crate) fn cache(
    command: Option<&CacheCommand>,
    options: &ListArguments,
    output: &Output,
) -> Result<(), Failure> {
    let no_home =
        || Failure::BadInput("no cache folder: neither XDG_CACHE_HOME nor HOME is an absolute path".into());
    let cache = of_user(AgedCache::MOST_BYTES).ok_or_else(no_home)?;
    let failed = |error: std::io::Error| Failure::BadInput(format!("{}: {error}", shown(cache.folder())));
    if let Some(CacheCommand::Clear) = command {
        let CacheUsage { files, bytes: size } = cache.clear().map_err(failed)?;
        output.notice(&format!("removed {} aged arrays, {}", count(files as u64), bytes(size)));
        return Ok(());
    }
    let CacheUsage { files, bytes: size } = cache.usage().map_err(failed)?;
    if options.json {
        let path = cache.folder().to_owned();
        let listing = Listing { path, files, bytes: size, most_bytes: AgedCache::MOST_BYTES };
        let text =
            serde_json::to_string_pretty(&listing).map_err(|error| Failure::Internal(error.to_string()))?;
        return output.data(&(text + "\n"));
    }
    output.data(&format!(
        "folder        {}\naged arrays   {}\nsize          {}\nat most       {}\n",
        shown(cache.folder()),
        count(files as u64),
        bytes(size),
        bytes(AgedCache::MOST_BYTES)
    ))
}
