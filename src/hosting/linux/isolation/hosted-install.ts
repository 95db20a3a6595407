import type { InstallRef } from '../../contract/install-ref.ts';
import type { SandboxedInstall } from './sandbox.ts';

/** An install with what it takes to reach its files and its database. */
export interface HostedInstall {
  ref: InstallRef;
  sandbox: SandboxedInstall;
  /** Name of its database: `hp_…`. */
  database: string;
  /** Its Unix user, which is its database user as well. */
  unixUser: string;
  /** The website's main host name. */
  primaryHostname: string;
  /** Whether visitors of that name use HTTPS. */
  secure: boolean;
}
