//! `include/jostle.h` is what cbindgen makes of the source.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::path::Path;

use cbindgen::{Builder, Config, EnumConfig, ItemType, Language, RenameRule, Style};

/// Rewrites the header in place of comparing it.
const REWRITE: &str = "JOSTLE_WRITE_HEADER";

/// In the order in which a reader meets them.
const FILES: [&str; 15] = [
    "version", "status", "handle", "columns", "space", "sets", "input", "threads", "finder", "search", "lists",
    "prepared", "queries", "contacts", "geometry",
];

/// The version, of which programs make choices when they are compiled.
const VERSION: [(&str, &str); 3] = [
    ("MAJOR", env!("CARGO_PKG_VERSION_MAJOR")),
    ("MINOR", env!("CARGO_PKG_VERSION_MINOR")),
    ("PATCH", env!("CARGO_PKG_VERSION_PATCH")),
];

/// What types are called in C.
const NAMES: [(&str, &str); 39] = [
    ("Status", "jostle_status"),
    ("Reason", "jostle_reason"),
    ("Offender", "jostle_offender"),
    ("Error", "jostle_error"),
    ("Column", "jostle_column"),
    ("SpaceKind", "jostle_space_kind"),
    ("RawSpace", "jostle_space"),
    ("Number", "jostle_number"),
    ("Shape", "jostle_shape"),
    ("Relation", "jostle_relation"),
    ("RawSet", "jostle_set"),
    ("Test", "jostle_test"),
    ("TestOfSets", "jostle_test_of_sets"),
    ("Input", "jostle_input"),
    ("Threads", "jostle_threads"),
    ("Task", "jostle_task"),
    ("Run", "jostle_run"),
    ("Host", "jostle_host"),
    ("Finder", "jostle_finder"),
    ("Frames", "jostle_frames"),
    ("Pairs", "jostle_pairs"),
    ("ImageShifts", "jostle_image_shifts"),
    ("Visit", "jostle_visit"),
    ("Hit", "jostle_hit"),
    ("VisitHit", "jostle_visit_hit"),
    ("Lists", "jostle_lists"),
    ("Rows", "jostle_rows"),
    ("Neighbors", "jostle_neighbors"),
    ("Prepared", "jostle_prepared"),
    ("Queries", "jostle_queries"),
    ("Question", "jostle_question"),
    ("Query", "jostle_query"),
    ("QueryTest", "jostle_query_test"),
    ("Answers", "jostle_answers"),
    ("Contacts", "jostle_contacts"),
    ("RawKeys", "jostle_keys"),
    ("ContactList", "jostle_contact_list"),
    ("Changes", "jostle_changes"),
    ("ContactGeometry", "jostle_contact_geometry"),
];

fn config(package: &Path) -> Config {
    let preamble = fs::read_to_string(package.join("src/preamble.h")).expect("the preamble is there");
    let version = VERSION.map(|(part, number)| format!("#define JOSTLE_VERSION_{part} {number}"));
    let mut config = Config {
        language: Language::C,
        style: Style::Both,
        cpp_compat: true,
        include_guard: Some(String::from("JOSTLE_H")),
        no_includes: true,
        sys_includes: vec![String::from("stddef.h"), String::from("stdint.h")],
        header: Some(preamble.trim_end().to_owned()),
        after_includes: Some(format!("\n{}", version.join("\n"))),
        documentation: true,
        line_length: 110,
        usize_is_size_t: true,
        enumeration: EnumConfig { rename_variants: RenameRule::QualifiedScreamingSnakeCase, ..EnumConfig::default() },
        ..Config::default()
    };
    config.export.rename =
        NAMES.map(|(rust, c)| (rust.to_owned(), c.to_owned())).into_iter().collect::<HashMap<_, _>>();
    config.export.include =
        ["Reason", "SpaceKind", "Number", "Shape", "Relation", "Rows", "Question"].map(String::from).to_vec();
    config.export.item_types = vec![
        ItemType::Constants,
        ItemType::Enums,
        ItemType::Structs,
        ItemType::OpaqueItems,
        ItemType::Typedefs,
        ItemType::Functions,
    ];
    config
}

#[test]
fn the_header_is_that_of_the_source() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = FILES.map(|file| package.join("src").join(file).with_extension("rs"));
    let builder = files.iter().fold(Builder::new().with_config(config(package)), Builder::with_src);
    let mut made = Vec::new();
    builder.generate().expect("cbindgen reads the source").write(&mut made);
    let (made, header) = (String::from_utf8(made).expect("cbindgen writes text"), package.join("include/jostle.h"));
    if env::var_os(REWRITE).is_some() {
        return fs::write(header, made).expect("the header can be written");
    }
    let kept = fs::read_to_string(header).unwrap_or_default();
    let line = made.lines().zip(kept.lines()).position(|(made, kept)| made != kept).map_or(0, |line| line + 1);
    assert!(made == kept, "include/jostle.h differs from the source, line {line}: run the test with {REWRITE}=1");
}
