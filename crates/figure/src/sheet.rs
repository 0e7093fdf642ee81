//! Style sheets, one for each family of pictures. Ink and paper are classes only, so that dark mode can turn them round.

/// A style sheet, and how exactly its pictures are drawn.
#[derive(Debug, Clone, Copy)]
pub struct Sheet {
    pub(crate) css: &'static str,
    /// Whether a place at a whole number of pixels is written without a decimal.
    pub(crate) short: bool,
}

/// Charts of results, on the page of findings.
pub const RESULTS: Sheet = Sheet {
    css: "\n\
    text { font-family: system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; font-size: 12px; fill: #222; }\n\
    .title { font-size: 17px; font-weight: 600; }\n\
    .panel { font-size: 13px; font-weight: 600; }\n\
    .soft, .tick { fill: #555; }\n\
    .tick { font-size: 11px; }\n\
    .paper { fill: #fff; }\n\
    .grid { stroke: #ddd; stroke-width: 1; }\n\
    .axis { stroke: #555; stroke-width: 1; fill: none; }\n\
    @media (prefers-color-scheme: dark) {\n\
      text { fill: #eee; }\n\
      .soft, .tick { fill: #bbb; }\n\
      .paper { fill: #1b1b1d; }\n\
      .grid { stroke: #3a3a3d; }\n\
      .axis { stroke: #bbb; }\n\
    }\n",
    short: false,
};

/// Figures of the concept page. What differs in colour also differs in shape or dashes.
pub const CONCEPTS: Sheet = Sheet {
    css: "
text { font-family: system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; font-size: 12px; fill: #222; }
.head { font-size: 13px; font-weight: 600; }
.tick { font-size: 11px; fill: #555; }
.paper { fill: #fff; }
.grid { stroke: #ddd; fill: none; }
.axis { stroke: #666; fill: none; }
.shade { fill: #eee; }
.tint { fill: #cfe3f1; }
.line { fill: none; stroke-width: 2; }
.free, .hit { fill: none; stroke-width: 3; stroke-linecap: round; }
.hit { stroke-width: 4; stroke-linecap: square; }
.free, .blue { stroke: @blue; }
.hit, .red { stroke: @vermilion; }
.green { stroke: @green; }
.pink { stroke: @pink; }
.grey { stroke: #777; }
.mark { stroke-width: 2; fill: #fff; }
.busy { fill: @vermilion; }
@media (prefers-color-scheme: dark) {
  text { fill: #eee; } .tick { fill: #bbb; } .paper, .mark { fill: #1b1b1d; } .grid { stroke: #3a3a3d; }
  .axis { stroke: #999; } .shade { fill: #333338; } .tint { fill: #23405a; } .free, .blue { stroke: @sky; }
  .hit, .red { stroke: #f0803c; } .busy { fill: #f0803c; } .green { stroke: #2fc79b; } .grey { stroke: #aaa; }
}
",
    short: true,
};

/// The course of a search.
pub const SEARCH: Sheet = Sheet {
    css: "text{font:12px system-ui,'DejaVu Sans',sans-serif;fill:#222}.paper{fill:#fff}.rule{stroke:#999}\
          @media(prefers-color-scheme:dark){text{fill:#eee}.paper{fill:#1b1b1d}}",
    short: false,
};
