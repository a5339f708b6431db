//! No rivals but those by hand: the crate is built without its feature `libraries`.

use super::Rival;

pub(crate) fn in_2d() -> Vec<Box<dyn Rival<2>>> {
    Vec::new()
}

pub(crate) fn in_3d() -> Vec<Box<dyn Rival<3>>> {
    Vec::new()
}

pub(crate) fn updated_in_2d() -> Vec<Box<dyn Rival<2>>> {
    Vec::new()
}

pub(crate) fn updated_in_3d() -> Vec<Box<dyn Rival<3>>> {
    Vec::new()
}
