//! Leads bodies to their owners, with columns of any plain values.

use core::fmt;

use bytemuck::Pod;

use crate::decomposition::key::Key;
use crate::decomposition::{Decomposition, Placed};
use crate::transport::Transport;
use crate::wire::{self, Reader};

/// A column that [`Migration::lead`] can move: a vector with a plain value for each body.
pub trait Field {
    /// Number of values.
    fn len(&self) -> usize;

    /// True when there is no value.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the values at these positions.
    fn put(&self, at: &[u32], bytes: &mut Vec<u8>);

    /// Takes its number of values from each message, one message after the other, and puts the values into this order.
    fn take(&mut self, messages: &mut [(usize, &[u8])], order: &[u32]);
}

impl<T: Pod> Field for Vec<T> {
    fn len(&self) -> usize {
        self.len()
    }

    fn put(&self, at: &[u32], bytes: &mut Vec<u8>) {
        bytes.reserve(at.len() * size_of::<T>());
        at.iter().for_each(|&at| bytes.extend_from_slice(bytemuck::bytes_of(&self[at as usize])));
    }

    fn take(&mut self, messages: &mut [(usize, &[u8])], order: &[u32]) {
        let mut arrived: Self = Self::with_capacity(order.len());
        for (count, bytes) in messages {
            let mut reader = Reader(bytes);
            reader.take(*count, &mut arrived);
            *bytes = reader.0;
        }
        self.clear();
        self.extend(order.iter().map(|&at| arrived[at as usize]));
    }
}

/// Says where the bodies of this rank go, and in which order arriving bodies will stand: the order of the curve.
///
/// It leads any columns, now or later. All columns that belong to a body must move with it.
#[derive(Clone, PartialEq)]
pub struct Migration {
    /// For each rank that bodies go to: their positions, in order.
    outgoing: Vec<(u32, Vec<u32>)>,
    /// How many bodies come from each rank.
    incoming: Vec<(u32, usize)>,
    /// For each place in the new order, which of the arrived bodies stands there. They are numbered message after
    /// message.
    order: Vec<u32>,
    bodies: usize,
}

impl fmt::Debug for Migration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Migration").field("bodies", &self.bodies).field("will_be", &self.len()).finish_non_exhaustive()
    }
}

impl Migration {
    pub(crate) fn new<const D: usize>(
        ranks: &impl Transport,
        decomposition: &Decomposition<D>,
        placed: &[Placed],
    ) -> Self {
        let mut outgoing = Vec::new();
        let mut rest = placed;
        while let Some(first) = rest.first() {
            let to = decomposition.owner_of(&first.key);
            let count = rest.partition_point(|body| decomposition.owner_of(&body.key) <= to);
            let (those, others) = rest.split_at(count);
            outgoing.push((to, those.iter().map(|body| body.at).collect::<Vec<u32>>()));
            rest = others;
        }
        let mut rest = placed;
        let messages = outgoing.iter().map(|(to, those)| {
            let (keys, others) = rest.split_at(those.len());
            rest = others;
            let mut bytes = Vec::with_capacity(size_of_val(those.as_slice()));
            keys.iter().for_each(|body| wire::put(&mut bytes, &[body.key]));
            (*to, bytes)
        });
        let (messages, ()) = ranks.exchange(messages.collect(), || ());
        let mut keys: Vec<(Key, u32)> = Vec::new();
        let mut incoming = Vec::new();
        for (from, bytes) in &messages {
            let arrived = wire::all::<Key>(bytes);
            incoming.push((*from, arrived.len()));
            keys.extend(arrived.into_iter().zip(keys.len() as u32..));
        }
        // Keys from one rank are in order; a stable sort merges such runs.
        keys.sort_by_key(|&(key, _)| key);
        Self { outgoing, incoming, order: keys.into_iter().map(|(_, at)| at).collect(), bodies: placed.len() }
    }

    /// Number of bodies that this rank will own.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// True when this rank will own no body.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bodies leave this rank.
    #[must_use]
    pub fn leaving(&self, rank: u32) -> usize {
        self.outgoing.iter().filter(|&&(to, _)| to != rank).map(|(_, those)| those.len()).sum()
    }

    /// Leads columns, with the values of the bodies as they lay, to the owners of the bodies, in one message to each
    /// rank. Collective: all ranks give the same number of columns, of the same types.
    ///
    /// # Panics
    /// When a column does not have a value for each body.
    pub fn lead(&self, ranks: &impl Transport, fields: &mut [&mut dyn Field]) {
        for (number, field) in fields.iter().enumerate() {
            assert_eq!(field.len(), self.bodies, "column {number} has not a value for each body");
        }
        let pack = |(to, those): &(u32, Vec<u32>)| {
            let mut bytes = Vec::new();
            fields.iter().for_each(|field| field.put(those, &mut bytes));
            (*to, bytes)
        };
        let outgoing = self.outgoing.iter().map(pack).collect();
        let (messages, ()) = ranks.exchange(outgoing, || ());
        let counts = self.incoming.iter().map(|&(_, count)| count);
        let mut messages: Vec<_> = counts.zip(messages.iter().map(|(_, bytes)| bytes.as_slice())).collect();
        fields.iter_mut().for_each(|field| field.take(&mut messages, &self.order));
    }
}
