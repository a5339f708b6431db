//! The examples compile without a warning by the system's compilers, against both libraries, and find what Rust finds.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use crate::expected::{pairs_c, pairs_cpp};

/// What a static library written in Rust needs of the system.
const OF_THE_SYSTEM: [&str; 3] = ["-lpthread", "-ldl", "-lm"];

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns where the libraries are installed. They are built once, beside this test and in its profile, so that the
/// engine is not compiled again.
fn installed() -> &'static Path {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let test = env::current_exe().expect("the test has a path");
        let profile = test.ancestors().nth(2).expect("it lies in target/debug/deps");
        let mut build = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        build.args(["build", "-p", "jostle-c", "--profile", "test", "--target-dir"]);
        build.arg(profile.parent().expect("it lies in target/debug/deps")).current_dir(package());
        done(&mut build);
        let prefix = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("installed");
        done(install(profile).arg("--prefix").arg(&prefix));
        prefix
    })
}

fn install(from: &Path) -> Command {
    let mut install = Command::new("bash");
    install.arg(package().join("install.sh")).arg("--from").arg(from).env_remove("DESTDIR");
    install
}

fn done(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} ends with {}:\n{said}", output.status);
    output
}

#[derive(Debug, Clone, Copy)]
enum Linked {
    Shared,
    Static,
}

/// Calls a compiler, which the environment may name together with words to call it by.
fn called(compiler: &str) -> Command {
    let mut words = compiler.split_whitespace();
    let mut command = Command::new(words.next().expect("the name of a compiler"));
    command.args(words);
    command
}

/// Compiles a program, and returns its path.
fn compiled(compiler: &str, arguments: &[&str], source: &str, linked: Linked) -> PathBuf {
    let (libraries, name) = (installed().join("lib"), source.replace(['.', '/'], "-"));
    let program = installed().join(format!("{name}-{linked:?}"));
    let mut compile = called(compiler);
    compile.args(["-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"]).args(arguments);
    compile.arg("-I").arg(installed().join("include")).arg(package().join(source));
    compile.arg("-o").arg(&program);
    match linked {
        Linked::Shared => {
            compile.arg("-L").arg(&libraries).arg("-ljostle").arg(format!("-Wl,-rpath,{}", libraries.display()))
        }
        Linked::Static => compile.arg(libraries.join("libjostle.a")).args(OF_THE_SYSTEM),
    };
    done(&mut compile);
    program
}

fn printed(program: &mut Command) -> String {
    String::from_utf8(done(program).stdout).expect("it prints text")
}

fn compiler_of_c() -> String {
    env::var("CC").unwrap_or_else(|_| String::from("cc"))
}

fn compiler_of_cpp() -> Option<String> {
    let compiler = env::var("CXX").unwrap_or_else(|_| String::from("c++"));
    let there = called(&compiler).arg("--version").output().is_ok();
    if !there {
        eprintln!("SKIPPED: there is no {compiler}");
    }
    there.then_some(compiler)
}

#[test]
fn the_c_example_finds_what_rust_finds() {
    for linked in [Linked::Shared, Linked::Static] {
        let program = compiled(&compiler_of_c(), &["-std=c11"], "examples/pairs.c", linked);
        assert_eq!(printed(&mut Command::new(program)), pairs_c(), "{linked:?}");
    }
}

#[test]
fn the_cpp_example_finds_what_rust_finds() {
    let Some(compiler) = compiler_of_cpp() else { return };
    for linked in [Linked::Shared, Linked::Static] {
        let program = compiled(&compiler, &["-std=c++17"], "examples/pairs.cpp", linked);
        assert_eq!(printed(&mut Command::new(program)), pairs_cpp(), "{linked:?}");
    }
}

#[test]
fn strict_compilers_take_the_headers() {
    let c = compiled(&compiler_of_c(), &["-std=c99", "-pedantic"], "tests/suite/strict.c", Linked::Shared);
    done(&mut Command::new(c));
    let Some(compiler) = compiler_of_cpp() else { return };
    for standard in ["-std=c++17", "-std=c++20"] {
        let arguments = [standard, "-pedantic"];
        done(&mut Command::new(compiled(&compiler, &arguments, "tests/suite/methods.cpp", Linked::Shared)));
    }
}

#[test]
fn prefixes_may_be_relative_and_have_odd_names() {
    let (from, folder) = (installed().join("lib"), PathBuf::from(env!("CARGO_TARGET_TMPDIR")));
    let odd = r"odd & one|two\ three";
    done(install(&from).args(["--prefix", odd]).current_dir(&folder));
    let described = fs::read_to_string(folder.join(odd).join("lib/pkgconfig/jostle.pc")).expect("it is installed");
    let prefix = folder.join(odd);
    let wanted = format!("prefix={0}\nlibdir={0}/lib\nincludedir={0}/include\n", prefix.display());
    assert!(described.starts_with(&wanted), "{described}");
    let refused = install(&from).args(["--prefix", "two\nlines"]).current_dir(&folder).output().expect("bash runs");
    assert!(!refused.status.success() && !folder.join("two\nlines").exists());
}

#[test]
fn what_is_installed_says_what_it_is() {
    let prefix = installed();
    let described = fs::read_to_string(prefix.join("lib/pkgconfig/jostle.pc")).expect("jostle.pc is installed");
    assert!(described.contains(&format!("\nVersion: {}\n", env!("CARGO_PKG_VERSION"))), "{described}");
    assert!(
        described.starts_with(&format!("prefix={}\n", prefix.display())) && !described.contains('@'),
        "{described}"
    );
}

/// Programs linked with the library thus ask for the compatible version, whatever the bare name leads to by then.
#[cfg(target_os = "linux")]
#[test]
fn the_shared_library_has_the_name_of_its_compatible_version() {
    let (lib, version) = (installed().join("lib"), env!("CARGO_PKG_VERSION"));
    let compatible = format!("libjostle.so.{}", version.rsplit_once('.').expect("a version has dots").0);
    let leads = |name: &str| fs::read_link(lib.join(name)).expect("it is a link");
    assert_eq!(leads("libjostle.so"), Path::new(&compatible));
    assert_eq!(leads(&compatible), Path::new(&format!("libjostle.so.{version}")));
    let (library, name) = (fs::read(lib.join("libjostle.so")).expect("it is installed"), format!("\0{compatible}\0"));
    assert!(library.windows(name.len()).any(|bytes| bytes == name.as_bytes()), "its name is not {compatible}");
}

/// Checks both examples, in 15 s: `cargo test -p jostle-c valgrind -- --ignored`.
#[test]
#[ignore = "it takes valgrind"]
fn valgrind_finds_no_fault_in_memory() {
    for (compiler, standard, example, expected) in [
        (Some(compiler_of_c()), "-std=c11", "examples/pairs.c", pairs_c()),
        (compiler_of_cpp(), "-std=c++17", "examples/pairs.cpp", pairs_cpp()),
    ] {
        let program = compiled(&compiler.expect("there is a compiler"), &[standard], example, Linked::Shared);
        let mut valgrind = Command::new("valgrind");
        // Valgrind knows no AVX-512, and says so to programs that ask the processor.
        valgrind.args([
            "--quiet",
            "--error-exitcode=9",
            "--leak-check=full",
            "--errors-for-leak-kinds=definite,indirect",
        ]);
        // Threads of a pool that were told to end may still run.
        valgrind.arg("--show-possibly-lost=no");
        valgrind.arg(format!("--suppressions={}", package().join("tests/valgrind.supp").display()));
        assert_eq!(printed(valgrind.arg(program)), expected, "{example}");
    }
}
