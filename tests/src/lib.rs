//! End-to-end tests over real processes and a real Redis.
