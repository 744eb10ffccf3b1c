//! Doubles of Retriever and the ARS, a private redis-server, message generators: for tests and the developer binary.
