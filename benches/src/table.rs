//! What was measured: printed row by row, and at the end put where docs/performance.md has its tables.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Instant;

use crate::floor::{Floor, Plain, Prefetching, Table};

/// Overwrites of one timing of a floor: about 0.3 s.
pub const FLOOR_STEP: u64 = 700_000;
pub const REPEATS: usize = 5;

/// Where a page has the tables.
const BEGIN: &str = "<!-- bench: written by `make bench` -->\n";
const END: &str = "<!-- end -->\n";

/// The median of several figures, and their extremes.
#[derive(Debug, Clone, Copy)]
pub struct Spread {
    pub least: f64,
    pub median: f64,
    pub most: f64,
}

impl Spread {
    /// # Panics
    /// If there are no figures.
    pub fn of(mut figures: Vec<f64>) -> Spread {
        figures.sort_by(f64::total_cmp);
        let (least, most) = (figures[0], figures[figures.len() - 1]);
        Spread { least, median: figures[figures.len() / 2], most }
    }
}

struct Row {
    case: String,
    ratio: Spread,
    /// What else was measured, and in which unit.
    beside: Option<(f64, &'static str)>,
    /// The ratio to the plain floor.
    plain: Option<f64>,
    /// What we want the median to be at most, or at least.
    aim: Option<Aim>,
}

/// What a ratio should be.
#[derive(Debug, Clone, Copy)]
pub enum Aim {
    AtMost(f64),
    AtLeast(f64),
}

impl Aim {
    fn words(self, ratio: f64) -> String {
        let (words, met) = match self {
            Aim::AtMost(aim) => (format!("at most {aim}"), ratio <= aim),
            Aim::AtLeast(aim) => (format!("at least {aim}"), ratio >= aim),
        };
        if met { words } else { words + " (missed)" }
    }
}

/// Rows of one kind.
struct Section {
    title: String,
    rows: Vec<Row>,
}

/// All that was measured.
#[derive(Default)]
pub struct Tables {
    sections: Vec<Section>,
    /// Sentences beside the tables.
    notes: Vec<String>,
}

impl Tables {
    /// What follows is of this kind.
    pub fn section(&mut self, title: &str) {
        println!("\n{title:<64}{:>9}{:>9}{:>9}{:>9}", "median", "least", "most", "plain");
        self.sections.push(Section { title: title.to_owned(), rows: Vec::new() });
    }

    /// A sentence beside the tables.
    pub fn note(&mut self, sentence: String) {
        println!("{sentence}");
        self.notes.push(sentence);
    }

    /// A ratio of two times that were taken in turns.
    pub fn ratio(&mut self, case: &str, aim: Option<Aim>, pair: &dyn Fn() -> (f64, f64)) {
        let ratios = (0..REPEATS).map(|_| pair()).map(|(one, other)| one / other).collect();
        self.put(Row { case: case.to_owned(), ratio: Spread::of(ratios), beside: None, plain: None, aim });
    }

    /// Figures that were measured elsewhere.
    pub fn figures(
        &mut self,
        case: &str,
        aim: Option<Aim>,
        figures: Vec<f64>,
        beside: Option<(f64, &'static str)>,
    ) {
        self.put(Row { case: case.to_owned(), ratio: Spread::of(figures), beside, plain: None, aim });
    }

    /// A time in nanoseconds as a ratio to both floors: each time between two steps of both.
    pub fn row(&mut self, floors: &mut Floors, case: &str, aim: Option<Aim>, time: impl Fn(usize) -> f64) {
        let (mut ratios, mut plains, mut times) = (Vec::new(), Vec::new(), Vec::new());
        for repeat in 0..REPEATS {
            let before = floors.timed();
            let time = time(repeat);
            let after = floors.timed();
            ratios.push(2.0 * time / (before.prefetching + after.prefetching));
            plains.push(2.0 * time / (before.plain + after.plain));
            times.push(time);
        }
        let (plain, time) = (Spread::of(plains).median, Spread::of(times).median);
        let beside = Some((time, "ns"));
        self.put(Row { case: case.to_owned(), ratio: Spread::of(ratios), beside, plain: Some(plain), aim });
    }

    fn put(&mut self, row: Row) {
        let Row { case, ratio, beside, plain, aim } = &row;
        let plain = plain.map_or(String::new(), |plain| format!("{plain:.2}"));
        let beside = beside.map_or(String::new(), |(figure, unit)| format!("   {figure:.1} {unit}"));
        let aim = aim.map_or(String::new(), |aim| format!("   {}", aim.words(ratio.median)));
        println!(
            "{case:<64}{:>9.2}{:>9.2}{:>9.2}{plain:>9}{beside}{aim}",
            ratio.median, ratio.least, ratio.most
        );
        if self.sections.is_empty() {
            self.section("");
        }
        if let Some(section) = self.sections.last_mut() {
            section.rows.push(row);
        }
    }

    /// The tables as Markdown.
    fn markdown(&self) -> String {
        let mut page = String::new();
        for Section { title, rows } in self.sections.iter().filter(|section| !section.rows.is_empty()) {
            let _ = writeln!(page, "\n| {title} | median | least to most | plain floor | measured | aim |");
            page.push_str("|---|--:|--:|--:|--:|---|\n");
            for Row { case, ratio, beside, plain, aim } in rows {
                let plain = plain.map_or(String::new(), |plain| format!("{plain:.2}"));
                let beside = beside.map_or(String::new(), |(figure, unit)| format!("{figure:.1} {unit}"));
                let aim = aim.map_or(String::new(), |aim| aim.words(ratio.median));
                let Spread { least, median, most } = ratio;
                let _ = writeln!(
                    page,
                    "| {case} | {median:.2} | {least:.2} to {most:.2} | {plain} | {beside} | {aim} |"
                );
            }
        }
        page.push('\n');
        self.notes.iter().for_each(|note| _ = writeln!(page, "- {note}"));
        page + "\n"
    }

    /// Puts the tables into a page, between its two marks.
    ///
    /// # Errors
    /// If the page cannot be read or written, or has no marks.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        let (page, begin, end) = read(path)?;
        let parts = [&page[..begin + BEGIN.len()], &self.markdown(), &page[end..]];
        let folder = path.parent().unwrap_or(Path::new("."));
        // An ordinary file, less the user's umask; temporary ones are private by default.
        let permissions = std::fs::Permissions::from_mode(0o666);
        let mut file = tempfile::Builder::new().permissions(permissions).tempfile_in(folder)?;
        std::io::Write::write_all(&mut file, parts.concat().as_bytes())?;
        file.persist(path)?;
        Ok(())
    }
}

/// A page, and where its tables begin and end.
fn read(path: &Path) -> std::io::Result<(String, usize, usize)> {
    let page = std::fs::read_to_string(path)?;
    let marks = page.find(BEGIN).zip(page.find(END)).filter(|(begin, end)| begin < end);
    let (begin, end) = marks.ok_or_else(|| std::io::Error::other("it has no marks for the tables"))?;
    Ok((page, begin, end))
}

/// Whether tables can be put into a page.
///
/// # Errors
/// If it cannot be read, or has no marks.
pub fn check(path: &Path) -> std::io::Result<()> {
    read(path).map(drop)
}

/// Both floors, of one flash.
pub struct Floors {
    plain: Plain,
    prefetching: Prefetching,
}

/// What a program costs each of them, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    pub plain: f64,
    pub prefetching: f64,
}

impl Floors {
    /// Of `blocks` of 64 pages, 15% of them spare.
    pub fn new(blocks: u32) -> Floors {
        Floors::of(blocks, 64, 0.15)
    }

    /// Of `blocks` of so many pages, a share of them `spare`. Greedy cleaning is steady after a few overwrites of the whole device.
    pub fn of(blocks: u32, pages_per_block: u32, spare: f64) -> Floors {
        let mut floors = Floors {
            plain: Plain::new(blocks, pages_per_block, spare, 1),
            prefetching: Prefetching::new(blocks, pages_per_block, spare, 1),
        };
        floors.plain.overwrite(20_000_000);
        floors.prefetching.overwrite(20_000_000);
        floors
    }

    /// One step of both.
    pub fn timed(&mut self) -> Cost {
        Cost { plain: timed(&mut self.plain), prefetching: timed(&mut self.prefetching) }
    }
}

/// Nanoseconds for each page program of one step.
fn timed<T: Table, const AHEAD: bool>(floor: &mut Floor<T, AHEAD>) -> f64 {
    let (before, clock) = (floor.programs, Instant::now());
    floor.overwrite(FLOOR_STEP);
    clock.elapsed().as_nanos() as f64 / (floor.programs - before) as f64
}
