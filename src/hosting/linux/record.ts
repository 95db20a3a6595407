import type { InstallState } from '../host.ts';

/** What the host has decided for an install, once and for all or until it is switched. */
export interface Placement {
  uid: number;
  gid: number;
  /** `major.minor`. */
  phpVersion: string;
  wordpressVersion: string;
  /** Name of its database and of the database's user. */
  database: string;
}

/** What stands in the record of an install: what it should be, and what was decided for it. */
export interface InstallRecord {
  state: InstallState;
  placement: Placement;
}
