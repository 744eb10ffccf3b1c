//! The axum gateway.
