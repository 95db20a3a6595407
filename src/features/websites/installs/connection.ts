import ipaddr from 'ipaddr.js';
import type { Config } from '../../../config/config.ts';
import type { HostingAddresses } from '../../hosts/hosting-addresses.ts';
import { isLocalAddress } from '../../hosts/local-address.ts';
import type { KnownHost } from '../../hosts/store.ts';
import { type HostKey, shownHostKey } from './host-keys.ts';
import type { WebsiteName } from './website-name.ts';

/** Addresses of an install's files and website. */
export interface Connection {
  host: string;
  port: number;
  username: string;
  /** Whether SSH gives a shell besides SFTP. */
  shell: boolean;
  /** Empty if the host's keys are unknown. */
  host_keys: HostKey[];
  http_url: string;
  https_url: string;
  /** The address at which the website opens now. */
  website_url: string;
}

const STANDARD_PORTS = { http: 80, https: 443 };

/**
 * Derives the addresses that users see from the listeners of the host. A wildcard or loopback address is replaced by the
 * host name of the public URL. A host's public name goes before both. The website opens by HTTP while browsers would
 * warn about its certificate.
 */
export function connectionOf(
  install: { name: string; primaryDomain: string; website: WebsiteName },
  { edgeHttp, edgeHttps, ssh }: HostingAddresses,
  {
    publicUrl,
    publicName,
    shell,
    hostKeys,
  }: { publicUrl: string; publicName: string | null; shell: boolean; hostKeys: string[] },
): Connection {
  const { hostname } = new URL(publicUrl);
  // A loopback listener on a public machine is behind a proxy, which listens on the standard ports.
  const isBehindProxy = (host: string) => isLoopback(host) && !isLoopback(hostname);
  const url = (scheme: 'http' | 'https', name: string) => {
    const { host, port } = scheme === 'http' ? edgeHttp : edgeHttps;
    return port === STANDARD_PORTS[scheme] || isBehindProxy(host)
      ? `${scheme}://${name}/`
      : `${scheme}://${name}:${port}/`;
  };
  const { website } = install;
  const isOpenedByHttps = website.isTrusted || isBehindProxy(edgeHttps.host);
  const listening = isReachedElsewhere(ssh.host) ? ssh.host : bare(hostname);
  const reached = { host: publicName ?? listening, port: ssh.port };
  return {
    ...reached,
    username: install.name,
    shell,
    host_keys: hostKeys.map((key) => shownHostKey(key, reached)),
    http_url: url('http', install.primaryDomain),
    https_url: url('https', install.primaryDomain),
    website_url: url(isOpenedByHttps ? 'https' : 'http', website.name),
  };
}

/**
 * The embedded host's addresses from the settings; null if the system chooses a port, which only the serving process
 * knows.
 */
export function configuredAddresses({ edgeHttp, edgeHttps, sshListen }: Config): HostingAddresses | null {
  const isChosenLater = [edgeHttp, edgeHttps, sshListen].some(({ port }) => port === 0);
  return isChosenLater ? null : { edgeHttp, edgeHttps, ssh: sshListen };
}

/** The addresses of a Linux host; null before its first description. */
export function addressesOf(
  { address, description }: Pick<KnownHost, 'address' | 'description'>,
  { edgeHttp, edgeHttps, sshListen }: Config,
): HostingAddresses | null {
  if (description === null) return null;
  const { ports } = description;
  const remote = isLocalAddress(address) ? null : bare(new URL(address).hostname);
  return {
    edgeHttp: { host: remote ?? edgeHttp.host, port: ports.http },
    edgeHttps: { host: remote ?? edgeHttps.host, port: ports.https },
    ssh: { host: remote ?? sshListen.host, port: ports.ssh },
  };
}

function isReachedElsewhere(host: string): boolean {
  return !isLoopback(host) && host !== '0.0.0.0' && host !== '::';
}

function isLoopback(host: string): boolean {
  const name = bare(host);
  if (ipaddr.isValid(name)) return ipaddr.process(name).range() === 'loopback';
  return name === 'localhost' || name.endsWith('.localhost');
}

/** Removes the brackets that an IPv6 address has in a URL. */
function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
