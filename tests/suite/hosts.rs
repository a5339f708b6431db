//! A host's own threads find the same pairs in the same order, whatever the host is like.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use jostle::{Bodies, Circles, InputError, PairFinder, PreparedSet, Space, Spawner, Stats, Threads};
use jostle_testkit::pairs::{Calls, ascending};
use jostle_testkit::tree::validate;
use jostle_testkit::{Kind, Scene, scene};

type Task<'a> = &'a (dyn Fn(usize) + Sync);

/// States a number of workers, and runs the tasks by any function.
struct Host<F>(usize, F);

impl<F: Fn(usize, Task<'_>) + Sync> Spawner for Host<F> {
    fn workers(&self) -> usize {
        self.0
    }

    fn run(&self, tasks: usize, task: Task<'_>) {
        self.1(tasks, task);
    }
}

/// Runs each task on a thread of its own.
fn scoped(tasks: usize, task: Task<'_>) {
    thread::scope(|scope| (0..tasks).for_each(|number| drop(scope.spawn(move || task(number)))));
}

fn forward(tasks: usize, task: Task<'_>) {
    (0..tasks).for_each(task);
}

fn backward(tasks: usize, task: Task<'_>) {
    (0..tasks).rev().for_each(task);
}

/// Runs the tasks one after the other, on a thread that is not the caller's.
fn abroad(tasks: usize, task: Task<'_>) {
    thread::scope(|scope| drop(scope.spawn(|| backward(tasks, task))));
}

/// Calls some tasks more than once, and some numbers that are no tasks, from several threads.
fn too_much(tasks: usize, task: Task<'_>) {
    scoped(3 * tasks, &|number| task(number * 7 % (5 * tasks)));
    task(usize::MAX);
}

fn nothing(_: usize, _: Task<'_>) {}

fn last_only(tasks: usize, task: Task<'_>) {
    task(tasks - 1);
}

mod standing {
    //! Threads that stand by from call to call, as an engine's threads do.
    #![allow(unsafe_code, reason = "a task lent to threads that outlive it")]

    use super::Task;
    use jostle::Spawner;
    use std::sync::Mutex;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::thread::{JoinHandle, spawn};

    struct Job {
        task: Task<'static>,
        number: usize,
        done: Sender<()>,
    }

    pub(crate) struct Standing {
        jobs: Mutex<Vec<Sender<Job>>>,
        threads: Vec<JoinHandle<()>>,
    }

    impl Standing {
        pub(crate) fn new(threads: usize) -> Self {
            let (jobs, threads) = (0..threads)
                .map(|_| {
                    let (sender, receiver): (_, Receiver<Job>) = channel();
                    (sender, spawn(move || receiver.iter().for_each(Job::run)))
                })
                .unzip();
            Self { jobs: Mutex::new(jobs), threads }
        }

        /// Returns whether all threads are still alive.
        pub(crate) fn all_alive(&self) -> bool {
            self.threads.iter().all(|thread| !thread.is_finished())
        }
    }

    impl Job {
        fn run(self) {
            (self.task)(self.number);
            let _ = self.done.send(());
        }
    }

    impl Spawner for Standing {
        fn workers(&self) -> usize {
            self.threads.len()
        }

        fn run(&self, tasks: usize, task: Task<'_>) {
            // SAFETY: this function returns only when every job that refers to the task has said that it is done.
            let task = unsafe { core::mem::transmute::<Task<'_>, Task<'static>>(task) };
            let (done, all_done) = channel();
            let jobs = self.jobs.lock().expect("no panic");
            for number in 0..tasks {
                jobs[number % jobs.len()].send(Job { task, number, done: done.clone() }).expect("a thread");
            }
            (0..tasks).for_each(|_| all_done.recv().expect("a thread"));
        }
    }

    impl Drop for Standing {
        fn drop(&mut self) {
            self.jobs.get_mut().expect("no panic").clear();
            self.threads.drain(..).for_each(|thread| thread.join().expect("no panic"));
        }
    }
}

/// Calls `check` with one host after the other, by name.
fn for_each_host(mut check: impl FnMut(&str, &dyn Spawner)) {
    check("a thread a task, 2", &Host(2, scoped));
    check("a thread a task, 5", &Host(5, scoped));
    check("a thread a task, 40", &Host(40, scoped));
    check("forward, 3", &Host(3, forward));
    check("backward, 4", &Host(4, backward));
    check("abroad, 3", &Host(3, abroad));
    check("standing by, 3", &standing::Standing::new(3));
    check("no worker", &Host(0, nothing));
    check("workers beyond number", &Host(usize::MAX, forward));
    check("too much", &Host(3, too_much));
    check("nothing", &Host(3, nothing));
    check("the last task only", &Host(3, last_only));
}

/// Returns the pairs in order, by a fold with one type of function.
fn fold<const D: usize>(
    finder: &mut PairFinder<D>,
    threads: Threads<'_>,
    view: Bodies<'_, D>,
) -> Result<(Vec<[u32; 2]>, f32), InputError> {
    let add = |all: &mut (Vec<[u32; 2]>, f32), a: u32, b: u32| {
        all.0.push([a, b]);
        all.1 += 1.0 / (1 + a + b) as f32;
    };
    finder.on(threads).fold(view, Default::default, add, |mut left, right| {
        left.0.extend(right.0);
        (left.0, left.1 + right.1)
    })
}

fn visit<const D: usize>(
    finder: &mut PairFinder<D>,
    threads: Threads<'_>,
    view: Bodies<'_, D>,
    visit: &(dyn Fn(u32, u32) + Sync),
) -> Result<Stats, InputError> {
    finder.on(threads).for_each_pair(view, visit)
}

/// All answers of one search.
#[derive(PartialEq)]
struct Answers {
    list: Vec<[u32; 2]>,
    ids: Vec<u32>,
    count: u64,
    folded: Vec<[u32; 2]>,
    sum: u32,
    /// Ascending.
    calls: Vec<[u32; 2]>,
    work: [u64; 4],
}

impl Answers {
    fn of<const D: usize>(finder: &mut PairFinder<D>, threads: Threads<'_>, view: Bodies<'_, D>) -> Self {
        let found = finder.on(threads).find(view).expect("a good scene");
        let (list, ids) = (found.pairs().to_vec(), found.rank_to_id().collect());
        let count = finder.on(threads).count(view).expect("a good scene");
        let (folded, sum) = fold(finder, threads, view).expect("a good scene");
        let calls = Calls::default();
        let stats = visit(finder, threads, view, &|a, b| calls.push(a, b)).expect("a good scene");
        let calls = ascending(&calls.into_pairs());
        let work = [stats.node_tests, stats.leaf_tests, stats.circle_tests, stats.pairs];
        Self { list, ids, count, folded, sum: sum.to_bits(), calls, work }
    }
}

fn same_as_on_one_thread<const D: usize>(kinds: &[Kind], n: usize) {
    let scenes: Vec<(Kind, Scene<D>)> = kinds.iter().map(|&kind| (kind, scene::scene(kind, n, 5))).collect();
    for (kind, scene) in &scenes {
        let expected = Answers::of(&mut PairFinder::new(), Threads::Serial, scene.view());
        assert!(expected.count > 0 && expected.folded == expected.list, "{kind}");
        for_each_host(|name, host| {
            let mut finder = PairFinder::new();
            // The second search uses memory from the first.
            for time in ["first", "second"] {
                let answers = Answers::of(&mut finder, Threads::Host(host), scene.view());
                assert!(answers == expected, "{kind}, {D}D, {name}, {time} time");
            }
        });
    }
}

#[test]
fn same_circles_as_on_one_thread() {
    same_as_on_one_thread::<2>(&[Kind::Uniform, Kind::Dense, Kind::Clustered], 45_000);
}

#[test]
fn same_spheres_as_on_one_thread() {
    same_as_on_one_thread::<3>(&[Kind::Uniform, Kind::Dense, Kind::Clustered], 45_000);
}

/// More bodies than caches hold, so that segments are taken in turn and workers wait for each other.
#[test]
fn same_order_for_many_bodies() {
    let scene = scene::scene::<2>(Kind::Clustered, 300_000, 2);
    let mut finder = PairFinder::new();
    let expected = finder.on(Threads::Serial).find(scene.view()).expect("a good scene").pairs().to_vec();
    for_each_host(|name, host| {
        let mut finder = PairFinder::new();
        let found = finder.on(Threads::Host(host)).find(scene.view()).expect("a good scene");
        assert!(found.pairs() == expected, "{name}");
        assert_eq!(validate(found.tree()), Ok(()), "{name}");
    });
}

/// On one thread, calls keep the order of the list, in whatever order the host runs the tasks.
#[test]
fn calls_on_one_thread_are_in_order() {
    let scene = scene::scene::<2>(Kind::Uniform, 40_000, 3);
    let mut finder = PairFinder::new();
    let list = finder.find(scene.view()).expect("a good scene").pairs().to_vec();
    for run in [forward, backward, abroad, last_only, nothing] {
        let calls = Calls::default();
        visit(&mut finder, Threads::Host(&Host(3, run)), scene.view(), &|a, b| calls.push(a, b)).expect("a good scene");
        assert!(calls.into_pairs() == list);
    }
}

/// A host whose threads all wait for a task has none left for a search that the task begins.
#[test]
fn a_search_within_a_task_does_not_call_the_host() {
    let (scene, few) = (scene::scene::<2>(Kind::Uniform, 40_000, 3), scene::scene::<2>(Kind::Uniform, 30_000, 3));
    let (runs, within) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let host = Host(3, |tasks: usize, task: Task<'_>| {
        runs.fetch_add(1, Ordering::Relaxed);
        scoped(tasks, task);
    });
    let searched = AtomicUsize::new(0);
    let visit_once = |_, _| {
        if searched.fetch_add(1, Ordering::Relaxed) > 0 {
            return;
        }
        let before = runs.load(Ordering::Relaxed);
        let mut inner = PairFinder::new();
        assert!(inner.on(Threads::Host(&host)).count(few.view()).expect("a good scene") > 0);
        within.store(runs.load(Ordering::Relaxed) - before, Ordering::Relaxed);
    };
    visit(&mut PairFinder::new(), Threads::Host(&host), scene.view(), &visit_once).expect("a good scene");
    assert!(searched.into_inner() > 0 && runs.into_inner() > 0);
    assert_eq!(within.into_inner(), 0);
}

/// A thread that waits within the caller's test takes on other tasks of the search.
#[test]
fn tasks_within_tasks_return_at_once() {
    let x: Vec<f32> = (0..40_000).map(|i| i as f32).collect();
    for threads in 1..3 {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let host = Host(3, |tasks: usize, task: Task<'_>| {
            pool.scope(|scope| (0..tasks).for_each(|number| scope.spawn(move |_| task(number))));
        });
        let test = |a: u32, _: u32| {
            if a.is_multiple_of(1000) {
                rayon::yield_now();
                rayon::join(|| (), || ());
            }
            true
        };
        let mut finder = PairFinder::<2>::new();
        let found = finder.on(Threads::Host(&host)).only(&test).find(Circles::new(&x, &x, 0.8)).expect("a line");
        assert_eq!(found.pairs().len(), 39_999);
    }
}

#[test]
fn few_bodies_do_not_trouble_the_host() {
    let calls = AtomicUsize::new(0);
    let host = Host(4, |tasks: usize, task: Task<'_>| {
        calls.fetch_add(1, Ordering::Relaxed);
        forward(tasks, task);
    });
    let mut finder = PairFinder::new();
    let mut search = |n| finder.on(Threads::Host(&host)).count(scene::scene::<2>(Kind::Uniform, n, 1).view());
    search(29_999).expect("a good scene");
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    search(30_000).expect("a good scene");
    assert!(calls.load(Ordering::Relaxed) > 0);
}

/// The host does not see a panic of the caller's own function, which comes out on the calling thread.
#[test]
fn a_panic_of_a_visitor_does_not_unwind_through_the_host() {
    let scene = scene::scene::<2>(Kind::Dense, 40_000, 8);
    let expected = PairFinder::new().find(scene.view()).expect("a good scene").pairs().to_vec();
    let standing = standing::Standing::new(3);
    let unwound = AtomicUsize::new(0);
    let watched = Host(3, |tasks: usize, task: Task<'_>| {
        for number in 0..tasks {
            if catch_unwind(AssertUnwindSafe(|| task(number))).is_err() {
                unwound.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    let hosts: [&dyn Spawner; 4] = [&standing, &watched, &Host(3, scoped), &Host(3, nothing)];
    let mut finder = PairFinder::new();
    for host in hosts.into_iter().chain(hosts) {
        let calls = AtomicU64::new(0);
        let give_up = |_, _| {
            if calls.fetch_add(1, Ordering::Relaxed) == 1_000 {
                resume_unwind(Box::new("enough"));
            }
        };
        let threads = Threads::Host(host);
        let search = catch_unwind(AssertUnwindSafe(|| visit(&mut finder, threads, scene.view(), &give_up)));
        assert_eq!(search.expect_err("a panic").downcast_ref(), Some(&"enough"));
        assert!(finder.on(threads).find(scene.view()).expect("a good scene").pairs() == expected);
    }
    assert_eq!(unwound.into_inner(), 0);
    assert!(standing.all_alive());
}

/// The host itself panics, before or after the tasks of any call. The panic comes out, and finder, tree and prepared
/// set stay whole.
#[test]
fn a_panic_of_the_host_leaves_all_whole() {
    let scene = scene::scene::<2>(Kind::Clustered, 40_000, 8);
    let expected = PairFinder::new().find(scene.view()).expect("a good scene").pairs().to_vec();
    for (at, late) in (0..).flat_map(|at| [(at, false), (at, true)]) {
        let calls = AtomicUsize::new(0);
        let host = Host(3, |tasks: usize, task: Task<'_>| {
            let panics = calls.fetch_add(1, Ordering::Relaxed) == at;
            if !panics || late {
                backward(tasks, task);
            }
            if panics {
                resume_unwind(Box::new("of the host"));
            }
        });
        let (mut finder, mut set, threads) = (PairFinder::new(), PreparedSet::new(), Threads::Host(&host));
        finder.find(scene.view()).expect("a good scene");
        set.build(scene.view(), Space::open(), Threads::Serial).expect("a good scene");
        let find = catch_unwind(AssertUnwindSafe(|| {
            finder.on(threads).find(scene.view()).expect("a good scene");
        }));
        if find.is_ok() {
            assert!(at > 3, "{at} calls");
            break;
        }
        calls.store(0, Ordering::Relaxed);
        let build =
            catch_unwind(AssertUnwindSafe(|| set.build(scene.view(), Space::open(), threads).expect("a scene")));
        let left = if build.is_ok() { expected.len() } else { 0 };
        for ended in [find, build] {
            assert!(ended.err().is_none_or(|payload| payload.downcast_ref() == Some(&"of the host")));
        }
        let last = finder.last();
        assert_eq!(validate(last.tree()), Ok(()), "call {at}, late: {late}");
        assert!(last.pairs().is_empty() && last.pairs_between(0, 0).is_empty(), "call {at}, late: {late}");
        assert_eq!(PairFinder::new().find(&set).expect("a set").pairs().len(), left, "call {at}, late: {late}");
        let found = finder.on(Threads::Serial).find(scene.view()).expect("a good scene");
        assert!(found.pairs() == expected, "after call {at}, late: {late}");
    }
}

#[test]
fn bad_input_is_refused_before_any_call() {
    let mut x = vec![0.0; 40_000];
    x[39_999] = f32::NAN;
    for_each_host(|name, host| {
        let threads = Threads::Host(host);
        let refused = visit(&mut PairFinder::new(), threads, Circles::new(&x, &x, 1.0), &|_, _| panic!("called"));
        assert!(matches!(refused, Err(InputError::Bodies { count: 1, .. })), "{name}: {refused:?}");
    });
}

#[test]
fn hosts_can_be_shown() {
    let shown = format!("{:?}", Threads::Host(&Host(3, nothing)));
    assert!(shown.contains("workers: 3"), "{shown}");
}
