import type { ListenAddress } from '../../../network/connections/listener.ts';
import type { InstallState } from '../../contract/install-state.ts';

const HTTP_PORT = 80;
export const HTTPS_PORT = 443;

/** The address of a website for its visitors: `https://example.com`, with the port unless it is the default. */
export function originOf(
  { primaryHostname, hostnames }: Pick<InstallState, 'primaryHostname' | 'hostnames'>,
  { edgeHttp, edgeHttps }: { edgeHttp: ListenAddress; edgeHttps: ListenAddress },
): string {
  const isSecure = hostnames.some(({ name, forceHttps }) => name === primaryHostname && forceHttps);
  const { port } = isSecure ? edgeHttps : edgeHttp;
  const isDefault = port === (isSecure ? HTTPS_PORT : HTTP_PORT);
  return `${isSecure ? 'https' : 'http'}://${primaryHostname}${isDefault ? '' : `:${port}`}`;
}

/** Whether two addresses have the same scheme and name. */
export function isSameButPort(one: string, other: string): boolean {
  const [{ protocol, hostname }, second] = [new URL(one), new URL(other)];
  return protocol === second.protocol && hostname === second.hostname;
}
