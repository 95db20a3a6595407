import type { Authority } from '../../acme/authority.ts';
import type { Host } from '../../hosting/host.ts';
import type { Platform } from '../../platform.ts';
import type { Internet } from '../domain-reports/internet.ts';

/** What it takes to have certificates issued. */
export interface Issuance {
  platform: Platform;
  authority: Authority;
  directoryUrl: string;
  host: Pick<Host, 'publish' | 'withdraw'>;
  internet: Internet;
}
