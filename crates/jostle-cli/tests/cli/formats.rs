//! Every format in, every format out, the same pairs.

use std::fs::File;
use std::sync::Arc;

use jostle::{Boxes64, PairFinder};
use jostle_testkit::Scene;
use jostle_testkit::shapes::{BoxKind, box_pairs, boxes};
use parquet::column::writer::ColumnWriter;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::RowAccessor;
use parquet::schema::parser::parse_message_type;

use crate::program::{Folder, array, bodies, csv, figure};

#[test]
fn csv_to_each_format() {
    let folder = Folder::new();
    let (circles, pairs) = bodies::<2>();
    folder.write("in.csv", csv(&circles));
    for out in ["out.csv", "out.npy", "out.parquet", "OUT.CSV"] {
        let output = folder.succeed(&format!("pairs in.csv -o {out} --threads 1"));
        assert_eq!(figure(&output, "pairs"), pairs.len().to_string());
        assert!(read_pairs(&folder, out) == pairs, "{out}");
    }
    let run = folder.run("pairs in.csv -o -");
    assert_eq!((run.code, run.stdout.as_bytes()), (Some(0), folder.read("out.csv").as_slice()));
    assert_eq!(figure(&run.stderr, "pairs"), pairs.len().to_string());
}

#[test]
fn spheres_and_their_shadows() {
    let folder = Folder::new();
    let (spheres, pairs) = bodies::<3>();
    folder.write("in.csv", csv(&spheres));
    let output = folder.succeed("pairs in.csv -o out.csv --frames 3");
    assert!(figure(&output, "input").contains("150 spheres"));
    assert!(figure(&output, "time").ends_with("median of 3 searches"));
    assert!(read_pairs(&folder, "out.csv") == pairs);
    // Seen along the third axis, more bodies overlap.
    let output = folder.succeed("pairs in.csv --dim 2 -o flat.csv");
    assert!(figure(&output, "input").contains("150 circles"));
    assert!(read_pairs(&folder, "flat.csv").len() > pairs.len());
}

#[test]
fn columns_by_other_names_and_one_radius() {
    let folder = Folder::new();
    folder.write("in.csv", "\u{feff}id, lon ,lat,size\n7,0,0,1\n\n8,1.5,0,1\n9,9,9,1\n");
    folder.succeed("pairs in.csv --columns lon,lat,size -o out.csv");
    assert_eq!(folder.read("out.csv"), b"a,b\n0,1\n");
    folder.succeed("pairs in.csv --columns lon,lat --radius 0.7 -o out.csv");
    assert_eq!(folder.read("out.csv"), b"a,b\n");
    folder.succeed("pairs in.csv --columns id,lon,lat --radius 4 --dim 3 -o out.csv");
    assert_eq!(folder.read("out.csv"), b"a,b\n0,1\n");
}

#[test]
fn contacts_are_counted_and_found_again_in_the_file() {
    let folder = Folder::new();
    folder.write("in.csv", "x,y,r\n9,9,0\n\n0,0,1\n2,0,1\n-2,0,1\n");
    let output = folder.succeed("pairs in.csv");
    assert_eq!(figure(&output, "most contacts"), "2 (id 1, line 4)");
}

#[test]
fn no_bodies_have_no_pairs() {
    let folder = Folder::new();
    folder.write("in.csv", "x,y,r\n");
    let output = folder.succeed("pairs in.csv -o out.npy --png out.png");
    assert_eq!(figure(&output, "pairs"), "0");
    assert_eq!(read_pairs(&folder, "out.npy"), [[0; 2]; 0]);
}

#[test]
fn arrays_of_each_kind() {
    let folder = Folder::new();
    let (circles, pairs) = bodies::<2>();
    for (kind, columns_first) in [("<f4", false), (">f4", true), ("<f8", true), (">f8", false)] {
        let values = values(&circles, columns_first);
        let bytes = if kind.ends_with('4') {
            array(kind, columns_first, 3, &values)
        } else {
            array(kind, columns_first, 3, &values.iter().map(|&v| f64::from(v)).collect::<Vec<_>>())
        };
        folder.write("in.npy", bytes);
        folder.succeed("pairs in.npy -o out.npy");
        assert!(read_pairs(&folder, "out.npy") == pairs, "{kind}, columns first: {columns_first}");
    }
}

#[test]
fn arrays_of_centres_and_of_spheres() {
    let folder = Folder::new();
    let (spheres, pairs) = bodies::<3>();
    folder.write("in.npy", array("<f4", false, 4, &values(&spheres, false)));
    folder.succeed("pairs in.npy -o out.csv");
    assert!(read_pairs(&folder, "out.csv") == pairs);
    folder.write("in.npy", array("<f4", false, 2, &[0.0_f32, 0.0, 1.0, 0.0, 5.0, 0.0]));
    folder.succeed("pairs in.npy --radius 0.5 -o out.csv");
    assert_eq!(folder.read("out.csv"), b"a,b\n0,1\n");
}

#[test]
fn parquet_of_each_kind() {
    let folder = Folder::new();
    let schema = "message m {
        optional double y; required binary name (UTF8); required float x;
        required int32 r (INTEGER(8,false)); optional int64 z; }";
    write_parquet(&folder, schema, |column, name| match (name, column) {
        ("y", ColumnWriter::DoubleColumnWriter(w)) => {
            w.write_batch(&[0.5, 0.5, 9.0], Some(&[1, 1, 1]), None).unwrap();
        }
        ("name", ColumnWriter::ByteArrayColumnWriter(w)) => {
            w.write_batch(&["a".into(), "b".into(), "c".into()], None, None).unwrap();
        }
        ("x", ColumnWriter::FloatColumnWriter(w)) => {
            w.write_batch(&[0.25, 1.5, 1.5], None, None).unwrap();
        }
        ("r", ColumnWriter::Int32ColumnWriter(w)) => {
            w.write_batch(&[1, 1, 255], None, None).unwrap();
        }
        ("z", ColumnWriter::Int64ColumnWriter(w)) => {
            w.write_batch(&[0, 0, 255], Some(&[1, 1, 1]), None).unwrap();
        }
        (name, _) => panic!("{name}"),
    });
    let output = folder.succeed("pairs in.parquet -o out.parquet");
    assert!(figure(&output, "input").contains("3 spheres"));
    let mut pairs = read_pairs(&folder, "out.parquet");
    pairs.sort_unstable();
    assert_eq!(pairs, [[0, 1], [0, 2], [1, 2]]);
    folder.succeed("pairs in.parquet --radius 0.1 -o out.parquet");
    assert_eq!(read_pairs(&folder, "out.parquet"), [[0; 2]; 0]);
}

#[test]
fn parquet_of_the_wrong_kind() {
    let folder = Folder::new();
    let refusal = |kind: &str| {
        let schema = format!("message m {{ required float x; required float y; {kind}; }}");
        write_parquet(&folder, &schema, |column, _| match column {
            ColumnWriter::FloatColumnWriter(w) => drop(w.write_batch(&[0.0, 1.0], None, None).unwrap()),
            ColumnWriter::DoubleColumnWriter(w) => drop(w.write_batch(&[1.0, 1e200], None, None).unwrap()),
            ColumnWriter::Int32ColumnWriter(w) => drop(w.write_batch(&[1, 2], None, None).unwrap()),
            ColumnWriter::Int64ColumnWriter(w) => drop(w.write_batch(&[1], Some(&[1, 0]), None).unwrap()),
            _ => panic!("{kind}"),
        });
        let message = folder.refuse("pairs in.parquet -o out.csv");
        assert_eq!(folder.names(), ["in.parquet"]);
        message
    };
    let beginning = "error: in.parquet: column r: ";
    let message = refusal("required double r");
    assert_eq!(message, "error: in.parquet: 1 of 2 circles cannot be used\n  row 1: |x| + r is above 2^500\n");
    assert_eq!(refusal("optional int64 r"), format!("{beginning}row 1: no value\n"));
    let message = refusal("required int32 r (DATE)");
    assert!(message.starts_with(&format!("{beginning}values of type Date")), "{message}");
}

/// Writes ten circles with no number but 1, and returns the bytes of the file.
fn ten_alike(folder: &Folder) -> Vec<u8> {
    write_parquet(folder, "message m { required float x; required float y; required float r; }", |column, _| {
        if let ColumnWriter::FloatColumnWriter(w) = column {
            w.write_batch(&[1.0; 10], None, None).unwrap();
        }
    });
    folder.read("in.parquet")
}

#[test]
fn parquet_packed_by_brotli_is_refused() {
    let folder = Folder::new();
    let mut bytes = ten_alike(&folder);
    // The path of a column, then the field that says what packs it: here nothing, and brotli is number 4, written doubled.
    let unpacked = *b"\x19\x18\x01x\x15\x00";
    let at = bytes.windows(6).position(|field| field == unpacked).unwrap();
    bytes[at + 5] = 8;
    folder.write("in.parquet", bytes);
    let message = folder.refuse("pairs in.parquet");
    assert_eq!(message, "error: in.parquet: column x: packed by brotli, which this program does not read\n");
}

#[test]
fn parquet_without_the_dictionary_of_its_values() {
    let folder = Folder::new();
    let mut bytes = ten_alike(&folder);
    // The first page says that it holds a dictionary. The test makes it an index, which readers skip.
    assert_eq!(bytes[..6], *b"PAR1\x15\x04");
    bytes[5] = 2;
    folder.write("in.parquet", bytes);
    let damage = "damaged: a page is one of values by a dictionary, which the column does not have";
    let message = folder.refuse("pairs in.parquet -o out.csv");
    assert_eq!(message, format!("error: in.parquet: column x: Parquet error: {damage}\n"));
}

/// Boxes stand in the columns of a file in an order of their own, with other columns between them, in `f32` or `f64`.
fn parquet_of_boxes<const D: usize>(kind: BoxKind) {
    let (folder, scene) = (Folder::new(), boxes::<D>(kind, 300));
    let count = box_pairs(&scene).len();
    let column = |name: &str, divisor: f64| -> Vec<f64> {
        let axis = "xyz".find(&name[..1]).unwrap();
        let corner = if name.ends_with("min") { &scene.lo[axis] } else { &scene.hi[axis] };
        corner.iter().map(|&x| f64::from(x) / divisor).collect()
    };
    let fields = |kind: &str| -> String {
        let names = ["zmax", "ymin", "xmin", "zmin", "xmax", "ymax"];
        let field = |name: &str| format!("required {kind} {name}; required int32 of_{name};");
        names.into_iter().filter(|name| D == 3 || !name.starts_with('z')).map(field).collect()
    };
    // Values that `f32` holds, in columns of either kind; and values that it would round.
    for (double, divisor) in [(false, 1.0), (true, 1.0), (true, 3.0)] {
        let kind = if double { "double" } else { "float" };
        write_parquet(&folder, &format!("message m {{ {} }}", fields(kind)), |writer, name| match writer {
            ColumnWriter::FloatColumnWriter(w) => {
                let values: Vec<_> = column(name, 1.0).iter().map(|&x| x as f32).collect();
                w.write_batch(&values, None, None).unwrap();
            }
            ColumnWriter::DoubleColumnWriter(w) => drop(w.write_batch(&column(name, divisor), None, None).unwrap()),
            ColumnWriter::Int32ColumnWriter(w) => drop(w.write_batch(&[7; 300], None, None).unwrap()),
            _ => panic!("{name}"),
        });
        let output = folder.succeed("pairs in.parquet -o out.parquet");
        assert!(figure(&output, "input").contains("in.parquet: 300 boxes"), "{output}");
        let precision = figure(&output, "precision");
        assert_eq!(precision.starts_with("f64"), divisor > 1.0, "{precision}");
        let mut finder = PairFinder::<D>::new();
        let found = if divisor > 1.0 {
            let [lo, hi] = [&scene.lo, &scene.hi].map(|columns| {
                columns.each_ref().map(|column| column.iter().map(|&x| f64::from(x) / divisor).collect::<Vec<_>>())
            });
            finder.find(Boxes64::new(lo.each_ref(), hi.each_ref())).unwrap().pairs().to_vec()
        } else {
            finder.find(scene.view()).unwrap().pairs().to_vec()
        };
        assert!(found.len() >= count.min(10), "{} pairs", found.len());
        assert!(read_pairs(&folder, "out.parquet") == found, "{kind}, {divisor}: other pairs");
        let pairs = figure(&folder.succeed("pairs in.parquet --count"), "pairs").replace(',', "");
        assert_eq!(pairs, found.len().to_string());
        for against in ["brute", "sweep"] {
            folder.succeed(&format!("verify in.parquet --against {against}"));
        }
    }
}

#[test]
fn boxes_in_parquet_are_read_in_either_precision() {
    parquet_of_boxes::<2>(BoxKind::Uniform);
    parquet_of_boxes::<2>(BoxKind::Degenerate);
    parquet_of_boxes::<3>(BoxKind::Touching);
}

/// Returns the columns of a scene as one array.
fn values<const D: usize>(scene: &Scene<D>, columns_first: bool) -> Vec<f32> {
    let columns: Vec<_> = scene.centers.iter().chain([&scene.radii]).collect();
    if columns_first {
        columns.into_iter().flatten().copied().collect()
    } else {
        (0..scene.len()).flat_map(|id| columns.iter().map(move |column| column[id])).collect()
    }
}

fn write_parquet(folder: &Folder, schema: &str, fill: impl Fn(&mut ColumnWriter<'_>, &str)) {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let names: Vec<_> = schema.get_fields().iter().map(|field| field.name().to_owned()).collect();
    let file = File::create(folder.path("in.parquet")).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for name in names {
        let mut column = group.next_column().unwrap().unwrap();
        fill(column.untyped(), &name);
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

fn read_pairs(folder: &Folder, name: &str) -> Vec<[u32; 2]> {
    match name.to_lowercase().rsplit('.').next() {
        Some("csv") => {
            let text = String::from_utf8(folder.read(name)).unwrap();
            let mut lines = text.lines();
            assert_eq!(lines.next(), Some("a,b"));
            let ids = |line: &str| line.split_once(',').map(|(a, b)| [a, b].map(|id| id.parse().unwrap())).unwrap();
            lines.map(ids).collect()
        }
        Some("npy") => {
            let bytes = folder.read(name);
            let ids: Vec<_> = bytes[128..].chunks(4).map(|id| u32::from_le_bytes(id.try_into().unwrap())).collect();
            assert!(bytes == array("<u4", false, 2, &ids), "not what NumPy writes");
            ids.chunks(2).map(|pair| [pair[0], pair[1]]).collect()
        }
        _ => {
            let file = SerializedFileReader::new(File::open(folder.path(name)).unwrap()).unwrap();
            let pair = |row: parquet::record::Row| [row.get_uint(0).unwrap(), row.get_uint(1).unwrap()];
            file.get_row_iter(None).unwrap().map(|row| pair(row.unwrap())).collect()
        }
    }
}
