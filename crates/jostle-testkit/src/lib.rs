//! Scenes and the oracle.
