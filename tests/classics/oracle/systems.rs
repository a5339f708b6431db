use jostle_classics::{System, SystemInSpace};

#[test]
fn every_system_in_the_plane() {
    for system in System::ALL {
        super::check(|world, scene| system.in_world(world, scene.view()).expect("a sound world"));
    }
}

#[test]
fn every_system_in_space() {
    for system in SystemInSpace::ALL {
        super::check(|world, scene| system.in_world(world, scene.view()).expect("a sound world"));
    }
}
