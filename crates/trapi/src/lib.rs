//! TRAPI messages: parsing, validation and the question a query asks. No I/O.
