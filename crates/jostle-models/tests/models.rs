//! Every model, in every order of events.

macro_rules! models {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            jostle_models::models::$name();
        })*
    };
}

models! {
    a_late_helper_misses_a_region_or_does_its_part
    a_helper_stays_for_the_next_region_or_leaves
    a_helper_is_dismissed_while_it_comes
    two_helpers_and_a_leader
    helpers_of_one_search_are_good_for_the_next
    a_panic_of_the_leader_or_the_helper_ends_the_region
    a_search_within_a_region
    no_ring_is_missed
    blocks_end_in_any_order
    who_ends_a_group_sees_all_of_it
    whoever_waits_learns_that_another_has_panicked
    writes_to_places_of_ones_own_are_seen_by_who_waits
}
