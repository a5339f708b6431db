//! Compares depth, normal and point of contacts with plain formulas in `f64`.

use jostle_contacts::Contact;
use jostle_core::Bodies;
use jostle_core::axes::{Axes, from_axes};

use crate::Scene;
use crate::axes::compiled_here;

/// Checks the contact of each pair of a scene.
///
/// # Panics
/// When a contact is not what the formulas of the documentation say, but for the last bit of an `f32`.
pub fn assert_contacts<const D: usize>(name: &str, scene: &Scene<D>, pairs: &[[u32; 2]], contacts: &[Contact<D>]) {
    let all = (name.to_owned(), pairs.to_vec());
    assert_each(&all, scene, &contacts.to_vec());
}

compiled_here! {
    fn assert_each<const D: usize>(of: &(String, Vec<[u32; 2]>), scene: &Scene<D>, contacts: &Vec<Contact<D>>) {
        let (name, pairs) = of;
        for (&pair, &found) in pairs.iter().zip(contacts) {
            assert_contact(name, scene.view(), pair, found);
        }
    }
}

/// The formulas of the documentation, by vectors in `f64`.
fn plain<const D: usize>(p: [f32; D], p_radius: f32, q: [f32; D], q_radius: f32) -> (f64, [f64; D], [f64; D]) {
    let wide = |v: [f32; D]| v.axes(f64::from);
    let (p, q, r, s) = (wide(p), wide(q), f64::from(p_radius), f64::from(q_radius));
    let distance = (0..D).map(|axis| (q[axis] - p[axis]).powi(2)).sum::<f64>().sqrt();
    let mut normal = from_axes(|axis| if distance > 0.0 { (q[axis] - p[axis]) / distance } else { 0.0 });
    if distance == 0.0 {
        normal[0] = 1.0;
    }
    let (begin, end) = (f64::max(-r, distance - s), f64::min(r, distance + s));
    let point = from_axes(|axis| p[axis] + normal[axis] * (begin + end) / 2.0);
    (f64::max(r + s - distance, 0.0), normal, point)
}

/// Whether two numbers are equal but for rounding: 2^-24 of the value, 2^-48 of `scale`, and the least `f32` together.
fn near(found: f32, expected: f64, scale: f64) -> bool {
    let ulp = 2.0_f64.powi(-24) * expected.abs() + 2.0_f64.powi(-48) * scale + 2.0_f64.powi(-149);
    (f64::from(found) - expected).abs() <= ulp
}

fn assert_contact<const D: usize>(name: &str, bodies: Bodies<'_, D>, [a, b]: [u32; 2], found: Contact<D>) {
    let ([p, q], [r, s]) = ([a, b].map(|id| bodies.center(id as usize)), [a, b].map(|id| bodies.radius(id as usize)));
    let (depth, normal, point) = plain(p, r, q, s);
    let scale = p.into_iter().chain(q).chain([r, s]).fold(0.0, |all: f32, x| all.max(x.abs()));
    let around = || format!("{name}: {p:?} {r}, {q:?} {s}: {found:?}, expected {depth} {normal:?} {point:?}");
    assert!(found.depth >= 0.0 && near(found.depth, depth, scale.into()), "{}", around());
    let length = found.normal.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    assert!((length - 1.0).abs() < 2.0_f64.powi(-23), "{}", around());
    for axis in 0..D {
        assert!(near(found.normal[axis], normal[axis], 1.0), "{}", around());
        assert!(near(found.point[axis], point[axis], scale.into()), "{}", around());
    }
}
