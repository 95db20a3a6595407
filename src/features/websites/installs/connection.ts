import ipaddr from 'ipaddr.js';
import type { Config } from '../../../config/config.ts';
import type { HostingAddresses } from '../../hosts/hosting-addresses.ts';
import { isLocalAddress } from '../../hosts/local-address.ts';
import type { KnownHost } from '../../hosts/store.ts';
import { type HostKey, shownHostKey } from './host-keys.ts';
import type { WebsiteName } from './website-name.ts';

/** How people reach the files and the website of an install. */
export interface Connection {
  host: string;
  port: number;
  username: string;
  /** Whether there is a shell, besides SFTP. */
  shell: boolean;
  /** None where the host does not tell. */
  host_keys: HostKey[];
  http_url: string;
  https_url: string;
  /** By which the website can be opened now. */
  website_url: string;
}

const STANDARD_PORTS = { http: 80, https: 443 };

/**
 * What to tell the people of an install, from where its host listens. The address that something listens on is no name to reach it
 * by where it is all of a machine's or its loopback: then it is the host name of the public URL, behind which it stands. A public
 * name of the host's own goes before both. A website is opened by HTTP while browsers would warn of its certificate.
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
  // A website on the loopback of a machine that the world knows is behind a proxy, and that listens as all do.
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

/** Where the settings say that this platform's own host listens; null if the system chooses a port, which only that process knows. */
export function configuredAddresses({ edgeHttp, edgeHttps, sshListen }: Config): HostingAddresses | null {
  const isChosenLater = [edgeHttp, edgeHttps, sshListen].some(({ port }) => port === 0);
  return isChosenLater ? null : { edgeHttp, edgeHttps, ssh: sshListen };
}

/** Where a Linux host listens; null while it has not told. */
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

/** An IPv6 address without the brackets that it has in a URL. */
function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
