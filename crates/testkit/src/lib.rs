//! Fixtures, generators and the laws that every translation keeps.
