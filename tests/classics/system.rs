//! Systems by name, and the worlds that they are made in.

use jostle_classics::{System, SystemInSpace};
use jostle_core::{Aabb, Bodies, Circles};

#[test]
fn names_lead_back() {
    assert!(System::ALL.into_iter().all(|system| system.to_string().parse() == Ok(system)));
    assert!(SystemInSpace::ALL.into_iter().all(|system| system.to_string().parse() == Ok(system)));
    let error = "octree".parse::<SystemInSpace>().expect_err("no name");
    assert_eq!(error.to_string(), "no system is called \"octree\": brute-force, linear-octree, linear-octree-touching");
}

#[test]
fn an_empty_world_is_refused_and_odd_bodies_are_not() {
    let none = Circles::new(&[], &[], 1.0);
    let empty = Aabb { lo: [0.0; 2], hi: [1.0, 0.0] };
    let unit = Aabb { lo: [0.0; 2], hi: [1.0; 2] };
    let odd = Circles::new(&[0.0; 4], &[0.0; 4], &[f32::NAN, -1.0, f32::MAX, 1e18]);
    let short = Bodies::from_slices([&[0.0; 2], &[0.0; 2]], &[1.0]);
    for system in System::ALL {
        assert!(system.in_world(empty, none).is_err(), "{system}");
        for bodies in [none, odd, short] {
            assert!(system.in_world(unit, bodies).is_ok(), "{system}");
        }
    }
    assert!(SystemInSpace::BruteForce.in_world(Aabb::EMPTY, Bodies::from_slices([&[]; 3], 1.0)).is_err());
}

#[test]
fn more_bodies_than_a_system_is_of_use_for_are_named() {
    for system in System::ALL {
        let most = system.most_bodies();
        assert!(system.check_count(0).is_ok() && system.check_count(most).is_ok());
        let error = system.check_count(most + 1).expect_err("one too many").to_string();
        assert!(error.starts_with(&format!("{system} is for at most {most} bodies, not {}:", most + 1)), "{error}");
    }
    for system in SystemInSpace::ALL {
        assert!(system.check_count(system.most_bodies()).is_ok());
        assert!(system.check_count(system.most_bodies() + 1).is_err());
    }
}
