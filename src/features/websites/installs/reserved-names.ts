import type { Config } from '../../../config/config.ts';

/** Names below a domain that programs and people take for its operator's: websites, mail, DNS, control panels, discovery of proxies. */
const ALWAYS = [
  ...['www', 'admin', 'administrator', 'cpanel', 'cpcalendars', 'cpcontacts', 'plesk', 'webdisk', 'whm'],
  ...['autoconfig', 'autodiscover', 'imap', 'mail', 'mta-sts', 'pop', 'pop3', 'smtp', 'webmail'],
  ...['dns', 'ns1', 'ns2', 'ns3', 'ns4', 'isatap', 'localhost', 'wpad'],
  ...['ftp', 'sftp'],
];

/** Names of scratch installs, in which it is tried whether backups can be restored. */
export const RESTORE_CHECK_PREFIX = 'restore-check-';

/**
 * Whether an install of this name would answer at a host of the platform itself (gaps section 5, Install.name): where the portal is, or
 * at one of `hostNames`, by which people reach a machine.
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
