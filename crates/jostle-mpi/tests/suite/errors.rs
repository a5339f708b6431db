//! Errors are collective, and no rank hangs.

use std::panic::catch_unwind;

use jostle::{Circles, Circles64, LatticeFault, Reason, Space};
use jostle_mpi::{
    Decomposition, DistributedError, DistributedFinder, DistributedInput, DistributedRows, Number, Share, ThreadRanks,
    Transport, Weights,
};

/// Returns the error of four ranks with two bodies each, where rank 2 has this bad body.
fn refused<T: Number>(x: T, radius: T, y: T) -> DistributedError {
    let mut errors = ThreadRanks::run(4, |ranks| {
        let (zero, at) = (T::default(), usize::from(ranks.rank() == 2));
        let (xs, ys, radii) =
            ([[zero, zero], [zero, x]][at], [[zero, zero], [zero, y]][at], [[zero, zero], [zero, radius]][at]);
        let share = Share::from(jostle::Bodies::from_slices([&xs[..], &ys[..]], &radii));
        let mut finder = DistributedFinder::serial();
        let error = finder.find(ranks, share).expect_err("is refused");
        assert_eq!(finder.find_in_place(ranks, share).expect_err("is refused"), error);
        assert_eq!(Decomposition::new(ranks, share, Weights::Count).expect_err("is refused"), error);
        // The finder stays usable.
        let origin = [zero];
        let sound = Share::from(jostle::Bodies::from_slices([&origin[..]; 2], zero));
        finder.find(ranks, sound).expect("sound bodies");
        error
    });
    errors.dedup();
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors.remove(0)
}

#[test]
fn all_ranks_name_the_same_body() {
    let body = |reason| DistributedError::Body { rank: 2, id: 5, reason, count: 1 };
    assert_eq!(refused(f32::NAN, 1.0, 0.0), body(Reason::CenterNotFinite { axis: 0 }));
    assert_eq!(refused(0.0, 1.0, f32::INFINITY), body(Reason::CenterNotFinite { axis: 1 }));
    assert_eq!(refused(0.0, f32::NAN, 0.0), body(Reason::RadiusNotFinite));
    assert_eq!(refused(0.0, -1.0, 0.0_f32), body(Reason::RadiusNegative));
    assert_eq!(refused(0.0, 1.0, 1e30_f32), body(Reason::TooFar { axis: 1 }));
    assert_eq!(refused(1e200, 1.0, 0.0_f64), body(Reason::TooFar64 { axis: 0 }));
    let text = refused(0.0, f32::NAN, 0.0).to_string();
    assert!(text.contains("rank 2") && text.contains("body 5"), "{text}");
}

#[test]
fn what_is_refused_as_a_whole_is_refused_by_all() {
    let errors = ThreadRanks::run(3, |ranks| {
        let (x, ids) = ([0.0, 1.0], [3, 4, 5]);
        let ids = &ids[..if ranks.rank() == 1 { 3 } else { 2 }];
        let share = Share::from(Circles::new(&x, &x, 0.5)).ids(ids);
        DistributedFinder::serial().find_in_place(ranks, share).map(|_| ()).expect_err("is refused")
    });
    for error in errors {
        assert!(matches!(&error, DistributedError::Rank { rank: 1, message } if message.contains("3 ids")), "{error}");
    }
    let errors = ThreadRanks::run(3, |ranks| {
        let x = [0.0, 1.0];
        let flat = Space::lattice([[1.0, 1.0], [2.0, 2.0]], [true; 2]);
        let input = DistributedInput::within(Circles64::new(&x, &x, 0.5)).space(flat);
        DistributedFinder::serial().find(ranks, input).map(|_| ()).expect_err("is refused")
    });
    for error in errors {
        assert_eq!(error, DistributedError::Input(jostle::InputError::Lattice(LatticeFault::Flat)));
    }
}

/// No rank waits for one that has given another space, or none.
#[test]
fn spaces_that_differ_are_refused_by_all() {
    let refused = |space: fn(u32) -> Space<2>, in_place: bool| {
        ThreadRanks::run(3, |ranks| {
            let x = [0.5, 1.0];
            let input = DistributedInput::within(Circles64::new(&x, &x, 0.5)).space(space(ranks.rank()));
            let mut finder = DistributedFinder::serial();
            let found = if in_place { finder.find_in_place(ranks, input) } else { finder.find(ranks, input) };
            found.map(|_| ()).expect_err("is refused").to_string()
        })
    };
    for in_place in [true, false] {
        let wide = |rank| Space::periodic([Some([0.0, if rank == 1 { 9.0 } else { 8.0 }]), None]);
        let errors = refused(wide, in_place);
        assert!(errors.iter().all(|error| error.contains("another than that of some other ranks")), "{errors:?}");
        let open = |rank| if rank == 2 { Space::open() } else { Space::periodic([Some([0.0, 8.0]), None]) };
        let errors = refused(open, in_place);
        assert!(errors.iter().all(|error| error.contains("another than that of some other ranks")), "{errors:?}");
        let none = |rank| if rank == 1 { Space::periodic([Some([1.0, 0.0]), None]) } else { Space::open() };
        let errors = refused(none, in_place);
        assert!(errors.iter().all(|error| error.contains("borders")), "{errors:?}");
        assert!(errors[0].starts_with("rank 1: ") && errors[0] == errors[2], "{errors:?}");
    }
}

#[test]
fn columns_that_some_ranks_lack_and_paths_without_end_are_refused_by_all() {
    let refused = |by: &'static [f32], lacking: bool, in_place: bool| {
        let mut errors = ThreadRanks::run(3, |ranks| {
            let share = Share::from(Circles::new(&[0.0, 1.0], &[0.0, 0.0], 0.5));
            let share = if lacking && ranks.rank() == 2 { share } else { share.moving([by, &[0.0, 0.0]]) };
            let mut finder = DistributedFinder::serial();
            let found = if in_place { finder.find_in_place(ranks, share) } else { finder.find(ranks, share) };
            found.map(|_| ()).expect_err("is refused").to_string()
        });
        errors.dedup();
        assert_eq!(errors.len(), 1, "{errors:?}");
        errors.remove(0)
    };
    for in_place in [true, false] {
        let text = refused(&[0.0, 1.0], true, in_place);
        assert!(text.contains("displacements are given by some ranks"), "{text}");
        let text = refused(&[0.0, f32::NAN], false, in_place);
        assert!(text.contains("rank 0: body 1: displacement NaN on axis 0"), "{text}");
        assert!(refused(&[0.0], false, in_place).contains("displacements of lengths [1, 2]"));
    }
}

#[test]
fn groups_that_some_ranks_lack_are_refused_by_all() {
    for lacking in 0..3 {
        for way in 0..3 {
            let mut errors = ThreadRanks::run(3, |ranks| {
                let x = [ranks.rank() as f32 / 2.0];
                let share = Share::from(Circles::new(&x, &[0.0], 0.5)).layers(&[1], &[1]);
                let share = if ranks.rank() == lacking { share } else { share.groups(&[1]) };
                let mut finder = DistributedFinder::serial();
                let refused = match way {
                    0 => finder.find(ranks, share).map(|_| ()),
                    1 => finder.find_in_place(ranks, share).map(|_| ()),
                    _ => finder.neighbors(ranks, share, &mut DistributedRows::new()).map(|_| ()),
                };
                refused.expect_err("is refused").to_string()
            });
            errors.dedup();
            let text = "rank 0: groups are given by some ranks, but not by all that have bodies of the set";
            assert_eq!(errors, [text], "lacking on rank {lacking}, way {way}");
        }
    }
}

#[test]
fn a_body_too_many_periods_away_is_named_by_its_rank_and_global_id() {
    for (far, space) in
        [(1e9, Space::periodic([Some([0.0, 1.0]), None])), (-1e12, Space::lattice([[1.0, 0.0], [0.5, 1.0]], [true; 2]))]
    {
        for way in 0..3 {
            let mut errors = ThreadRanks::run(3, |ranks| {
                let (rank, at) = (u64::from(ranks.rank()), f64::from(ranks.rank()) / 4.0);
                let (x, ids) = ([at, if rank == 1 { far } else { at }], [100 + rank, 110 + rank]);
                let share = Share::from(Circles64::new(&x, &[0.0; 2], 0.2)).ids(&ids[..]);
                let input = DistributedInput::within(share).space(space);
                let mut finder = DistributedFinder::serial();
                let refused = match way {
                    0 => finder.find(ranks, input).map(|_| ()),
                    1 => finder.find_in_place(ranks, input).map(|_| ()),
                    _ => finder.neighbors(ranks, input, &mut DistributedRows::new()).map(|_| ()),
                };
                refused.expect_err("is refused").to_string()
            });
            errors.dedup();
            assert_eq!(errors.len(), 1, "{errors:?}");
            assert!(errors[0].starts_with("rank 1: body 111: more than 2^29 periods away on axis 0"), "{errors:?}");
        }
    }
}

#[test]
fn a_rank_that_panics_ends_the_others() {
    let ended = catch_unwind(|| {
        ThreadRanks::run(4, |ranks| {
            assert!(ranks.rank() != 3, "rank {} falls", ranks.rank());
            ranks.barrier();
        })
    });
    let panic = ended.expect_err("it panics");
    assert!(panic.downcast_ref::<String>().is_some_and(|message| message == "rank 3 falls"));
}

#[test]
fn a_message_for_nobody_is_a_mistake_of_the_caller() {
    for outgoing in [vec![(2, vec![1])], vec![(0, vec![1]), (0, vec![2])]] {
        assert!(catch_unwind(|| ThreadRanks::run(2, |ranks| ranks.exchange(outgoing.clone(), || ()))).is_err());
    }
}
