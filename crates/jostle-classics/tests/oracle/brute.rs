use jostle_classics::BruteForce;

#[test]
fn brute_force_in_the_plane() {
    super::check::<2, _>(|_, _| BruteForce::new());
}

#[test]
fn brute_force_in_space() {
    super::check::<3, _>(|_, _| BruteForce::new());
}
