//! What viewers receive, and what they cost.

use std::thread;
use std::time::Duration;

use jostle::{Circles, PairFinder};
use jostle_view::{Command, Controls, HEADER, Section, Sections, Viewer};
use proptest::prelude::*;
use tungstenite::Message;

use crate::client::{CIRCLES, Client, Watched, until};

fn watched() -> Watched {
    Watched::start(Viewer::start(([127, 0, 0, 1], 0).into()).unwrap())
}

#[test]
fn nothing_is_encoded_while_nobody_looks() {
    let watched = watched();
    thread::sleep(Duration::from_millis(100));
    let viewer = watched.stop();
    assert_eq!((viewer.encoded(), viewer.viewers()), (0, 0));

    let watched = Watched::start(viewer);
    let mut client = Client::attach(watched.address);
    client.frame();
    drop(client);
    let mut viewer = watched.stop();
    until("the viewer has left", || viewer.viewers() == 0);
    let encoded = viewer.encoded();
    assert!(encoded > 0);
    let view = Circles::new(&[0.0; 9], &[0.0; 9], 1.0);
    let mut finder = PairFinder::new();
    let found = finder.find(view).unwrap();
    (0..1000).for_each(|_| viewer.frame(view, &found));
    assert_eq!(viewer.encoded(), encoded);
}

#[test]
fn a_moving_circle_takes_four_bytes_and_a_bit() {
    let watched = watched();
    let mut client = Client::attach(watched.address);
    let (frame, radii) = client.frame();
    assert_eq!(radii, 12 + 4 * CIRCLES);
    assert_eq!(frame.len(), HEADER + 8 + 4 * CIRCLES + 8 + CIRCLES / 8);
    let sections: Vec<_> = Sections::of(&frame).collect();
    assert_eq!(sections[1].0, Section::Touched);
    assert_eq!(sections[1].1[0], 0b011);
    // Radii come once. Further sections come where they are wanted.
    client.say("want contacts pairs order boxes 0");
    let (mut frame, mut again) = client.frame();
    while Sections::of(&frame).count() == 2 {
        let next = client.frame();
        (frame, again) = (next.0, again + next.1);
    }
    assert_eq!(again, 0);
    let pairs = Sections::of(&frame).find(|section| section.0 == Section::Pairs).unwrap().1;
    assert_eq!(pairs, [0, 0, 0, 0, 1, 0, 0, 0]);
    watched.stop();
}

#[test]
fn ten_viewers_cost_one_encoding() {
    let mut viewer = Viewer::start(([127, 0, 0, 1], 0).into()).unwrap();
    let mut clients: Vec<_> = (0..10).map(|_| Client::attach(viewer.address())).collect();
    until("all ten sit", || viewer.viewers() == 10);
    let view = Circles::new(&[0.0; 9], &[0.0; 9], 1.0);
    let mut finder = PairFinder::new();
    let found = finder.find(view).unwrap();
    viewer.frame(view, &found);
    until("they have room", || {
        viewer.frame(view, &found);
        viewer.encoded() == 1
    });
    let frames: Vec<_> = clients.iter_mut().map(|client| client.frame().0).collect();
    assert!(frames.iter().all(|frame| *frame == frames[0]));
    assert_eq!(viewer.encoded(), 1);
}

#[test]
fn a_slow_viewer_gets_fewer_frames_and_holds_nobody_up() {
    let watched = watched();
    let (mut slow, mut fast) = (Client::attach(watched.address), Client::attach(watched.address));
    let number = |frame: &[u8]| f64::from_le_bytes(frame[16..24].try_into().unwrap());
    let mut last = 0.0;
    for _ in 0..20 {
        let next = number(&fast.frame().0);
        assert!(next > last);
        last = next;
    }
    // The slow viewer has drawn nothing meanwhile. It gets the two frames that had come, then the latest, and none that
    // it has missed.
    let first = number(&slow.frame().0);
    let second = number(&slow.frame().0);
    assert!(first < second && second < last);
    assert!(number(&slow.frame().0) >= last, "a frame that was late before it was sent");
    watched.stop();
}

#[test]
fn a_viewer_that_vanishes_in_the_middle_of_a_frame_harms_nothing() {
    let watched = watched();
    let mut stays = Client::attach(watched.address);
    for _ in 0..5 {
        let mut leaves = Client::attach(watched.address);
        leaves.frame();
        // This viewer has read at most the head of a frame, and leaves without a word.
        leaves.0.get_mut().shutdown(std::net::Shutdown::Both).unwrap();
        drop(leaves);
        stays.frame();
    }
    (0..5).for_each(|_| _ = stays.frame());
    let viewer = watched.stop();
    until("those that vanished have lost their seats", || viewer.viewers() == 1);
}

#[test]
fn questions_are_answered_and_commands_arrive() {
    let mut viewer = Viewer::start(([127, 0, 0, 1], 0).into()).unwrap();
    let controls = Controls { paused: true, scenes: vec!["dense".to_owned()], agents: 9, ..Controls::default() };
    viewer.set_controls(&controls);
    let mut client = Client::attach(viewer.address());
    assert!(client.text().starts_with(r#"{"controls":{"paused":true,"#));

    client.say("step");
    client.say("giant 1 2 3");
    client.say("nonsense");
    assert_eq!(client.text(), r#"{"error":"not understood"}"#);
    assert_eq!(viewer.command(), Some(Command::Step));
    assert_eq!(viewer.command(), Some(Command::Giant { center: [1.0, 2.0], radius: 3.0 }));
    assert_eq!(viewer.command(), None);

    // Questions are answered in a loop that is paused.
    client.say("ask 3 nearest 0.5 0 1");
    let (x, y) = ([0.0, 1.5, 9.0], [0.0; 3]);
    let view = Circles::new(&x, &y, 1.0);
    let mut finder = PairFinder::new();
    let found = finder.find(view).unwrap();
    let answered = thread::spawn(move || (client.text(), client));
    while !answered.is_finished() {
        viewer.still(view, &found);
        thread::sleep(Duration::from_millis(1));
    }
    let (answer, mut client) = answered.join().unwrap();
    assert!(answer.starts_with(r#"{"ask":3,"kind":"nearest","micros":"#), "{answer}");
    assert!(answer.contains(r#""count":1,"bodies":[{"id":0,"#), "{answer}");
    // The frame was encoded once for the new viewer, and is not encoded again while nothing changes.
    let encoded = viewer.encoded();
    assert_eq!(encoded, 1);
    client.say("nonsense");
    client.text();
    (0..10).for_each(|_| viewer.still(view, &found));
    assert_eq!(viewer.encoded(), encoded);
    client.say("want pairs");
    until("what is wanted is encoded", || {
        viewer.still(view, &found);
        viewer.encoded() == encoded + 1
    });
}

#[test]
fn many_questions_are_answered_over_many_frames() {
    let mut viewer = Viewer::start(([127, 0, 0, 1], 0).into()).unwrap();
    let x: Vec<_> = (0..100_000).map(|id| id as f32).collect();
    let view = Circles::new(&x, &x, 1.0);
    let mut finder = PairFinder::new();
    let found = finder.find(view).unwrap();
    let mut clients: Vec<_> = (0..10).map(|_| Client::attach(viewer.address())).collect();
    clients.iter_mut().for_each(|client| client.say("ask 1 record"));
    // All questions have come, and one call answers some of them.
    thread::sleep(Duration::from_millis(300));
    viewer.still(view, &found);
    let answered: Vec<_> = clients.into_iter().map(|mut client| thread::spawn(move || client.text())).collect();
    thread::sleep(Duration::from_millis(300));
    assert!(answered.iter().any(|client| !client.is_finished()), "one call answers all");
    until("all are answered", || {
        viewer.still(view, &found);
        answered.iter().all(|client| client.is_finished())
    });
    assert!(answered.into_iter().all(|client| client.join().unwrap().contains(r#""regions":["#)));
}

#[test]
fn damaged_messages_never_bring_the_server_down() {
    let watched = watched();
    let messages = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..64).prop_map(Message::binary),
        "\\PC{0,40}".prop_map(Message::text),
        "(want|ask|giant|rate|agents|ready|box)( (-?[0-9]{1,12}|boxes|pairs|box|ray|nearest|NaN|1e38)){0,6}"
            .prop_map(Message::text),
        prop::collection::vec(any::<u8>(), 0..64).prop_map(|bytes| Message::Ping(bytes.into())),
    ];
    let config = ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() };
    let address = watched.address;
    proptest!(config, |(messages in prop::collection::vec(messages, 0..20), raw in prop::collection::vec(any::<u8>(), 0..40))| {
        use std::io::Write;
        let mut client = Client::attach(address);
        for message in messages {
            client.0.send(message).unwrap();
        }
        client.frame();
        // Sends bytes that are no frame of a WebSocket.
        client.0.get_mut().write_all(&raw).unwrap();
    });
    // A message longer than any of the page's ends its own connection alone.
    let mut long = Client::attach(address);
    let mut client = Client::attach(address);
    _ = long.0.send(Message::text("a".repeat(100_000)));
    (0..3).for_each(|_| _ = client.frame());
    until("it is cut off", || long.0.read().is_err());
    watched.stop();
}
