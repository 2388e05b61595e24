-- Keys that all nodes of a store share; nobody's, since they open nothing by themselves.
CREATE TABLE secret (
    name TEXT NOT NULL PRIMARY KEY,
    value {bytes} NOT NULL
);
