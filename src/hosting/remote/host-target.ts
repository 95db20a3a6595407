import type { ClientIdentity } from './identity.ts';

/** The address of a host; `name` is the operator's name for it. */
export type HostTarget =
  | { name: string; socket: string }
  | {
      name: string;
      /** `https://address:port` */
      url: string;
      hostId: string;
      identity: ClientIdentity;
    };
