import type { Config } from '../../../config/config.ts';

/**
 * Labels that programs and users attribute to a domain's operator: websites, mail, DNS, control panels, proxy discovery.
 */
const ALWAYS = [
  ...['www', 'admin', 'administrator', 'cpanel', 'cpcalendars', 'cpcontacts', 'plesk', 'webdisk', 'whm'],
  ...['autoconfig', 'autodiscover', 'imap', 'mail', 'mta-sts', 'pop', 'pop3', 'smtp', 'webmail'],
  ...['dns', 'ns1', 'ns2', 'ns3', 'ns4', 'isatap', 'localhost', 'wpad'],
  ...['ftp', 'sftp'],
];

/** Prefix of the scratch installs in which restore checks run. */
export const RESTORE_CHECK_PREFIX = 'restore-check-';

/**
 * Whether the name is reserved (docs/api.md, Installs): its default domain would be the portal's host, or one of
 * `hostNames`, the public names of hosts.
 */
export function isReservedName(
  name: string,
  { publicUrl, siteDomain }: Pick<Config, 'publicUrl' | 'siteDomain'>,
  hostNames: readonly string[] = [],
): boolean {
  const own = [new URL(publicUrl).hostname, ...hostNames];
  return (
    ALWAYS.includes(name) || name.startsWith(RESTORE_CHECK_PREFIX) || own.includes(`${name}.${siteDomain}`)
  );
}
