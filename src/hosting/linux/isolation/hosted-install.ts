import type { InstallRef } from '../../contract/host.ts';
import type { SandboxedInstall } from './sandbox.ts';

/** An install with all that its files and its database are reached by. */
export interface HostedInstall {
  ref: InstallRef;
  sandbox: SandboxedInstall;
  /** Name of its database: `hp_…`. */
  database: string;
  /** Its Unix user, which is its database user as well. */
  unixUser: string;
  /** The host name that stands for the website. */
  primaryHostname: string;
}
