import type { ListenAddress } from '../../../network/connections/inherited-sockets.ts';
import type { InstallState } from '../../contract/install-state.ts';
import type { UrlPorts } from '../../websites/urls/replace-urls.ts';

interface EdgeAddresses {
  edgeHttp: ListenAddress;
  edgeHttps: ListenAddress;
}

const HTTP_PORT = 80;
export const HTTPS_PORT = 443;

/** The address of a website for its visitors: `https://example.com`, with the port unless it is the default. */
export function originOf(
  { primaryHostname, hostnames }: Pick<InstallState, 'primaryHostname' | 'hostnames'>,
  { edgeHttp, edgeHttps }: EdgeAddresses,
): string {
  const isSecure = hostnames.some(({ name, forceHttps }) => name === primaryHostname && forceHttps);
  const scheme = isSecure ? 'https' : 'http';
  const port = urlPorts({ edgeHttp, edgeHttps })[scheme];
  return `${scheme}://${primaryHostname}${port === '' ? '' : `:${port}`}`;
}

/** The ports of visitors' addresses. */
export function urlPorts({ edgeHttp, edgeHttps }: EdgeAddresses): UrlPorts {
  const [http, https] = [edgeHttp.port, edgeHttps.port];
  return { http: http === HTTP_PORT ? '' : String(http), https: https === HTTPS_PORT ? '' : String(https) };
}

/** Whether two addresses have the same scheme and name. */
export function isSameButPort(one: string, other: string): boolean {
  const [{ protocol, hostname }, second] = [new URL(one), new URL(other)];
  return protocol === second.protocol && hostname === second.hostname;
}
