-- Holds the right to write, as a backup or a person with a shell would.
.bail on
begin exclusive;
.shell echo ready
