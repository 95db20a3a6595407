import { ProbeFailure } from './probe-response.ts';
import { quotable } from './untrusted-text.ts';

/** Ports for URLs that do not name one. */
export interface WebPorts {
  http: number;
  https: number;
}

/** Throws ProbeFailure for a URL that is not http or https, or that contains a user name or password. */
export function refuseUnsafeUrl(url: URL): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ProbeFailure(
      'bad_redirect',
      `${quotable(url.href)} is not a web address; redirect to an address that begins with https:// instead.`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new ProbeFailure(
      'bad_redirect',
      `The address on ${quotable(url.host)} contains a user name or password; remove it from the redirect.`,
    );
  }
}

/** The only ports to which certificate authorities follow redirects. */
const WEB_PORTS = [80, 443];

/**
 * Whether the URL names no port or a web port. A redirect to any other port could make Homeport scan ports for an
 * attacker, or send commands to an internal service.
 */
export function isWebPort(url: URL, { http, https }: WebPorts): boolean {
  return url.port === '' || [...WEB_PORTS, http, https].includes(Number(url.port));
}

export function portRefused(url: URL): ProbeFailure {
  return new ProbeFailure(
    'bad_redirect',
    `${quotable(url.href)} uses port ${url.port}, which is not a web port; redirect to port 80 or 443 instead.`,
  );
}
