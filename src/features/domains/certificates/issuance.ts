import type { Host } from '../../../hosting/contract/host.ts';
import type { Authority } from '../../../network/acme/authority.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { Internet } from '../status-reports/internet.ts';

/** Dependencies of certificate issuance. */
export interface Issuance {
  platform: Platform;
  authority: Authority;
  directoryUrl: string;
  host: Pick<Host, 'publish' | 'withdraw'>;
  internet: Internet;
}
