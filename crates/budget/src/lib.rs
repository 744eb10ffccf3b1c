//! Every timeout and deadline of a query, computed in one place. No I/O; the clock is passed in.
