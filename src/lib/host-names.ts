/** Longest host name as text: 255 octets on the wire leave 253 characters (RFC 1035 section 2.3.4). */
export const MAX_HOST_NAME = 253;

/** Pattern of one label of a host name in lower case: letters, digits and inner hyphens, 1 to 63 (RFC 1123 section 2.1). */
export const HOST_LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';

/** Pattern of a host name in lower case, without a final dot. Check its length against MAX_HOST_NAME. */
export const HOST_NAME = `${HOST_LABEL}(?:\\.${HOST_LABEL})*`;

const SERVED_LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?';

/** Pattern of a name that a web server serves: like HOST_NAME, but labels may contain underscores, as DNS names do. */
export const SERVED_NAME = `${SERVED_LABEL}(?:\\.${SERVED_LABEL})*`;

/** Pattern of an install's name, which is also a Unix user and a host label: 3 to 40 characters, starting with a letter. */
export const INSTALL_NAME = '[a-z][a-z0-9-]{1,38}[a-z0-9]';

/** Pattern of a token in the path of an ACME challenge or domain check: base64url (RFC 8555 section 8.3). */
export const CHALLENGE_TOKEN = '[A-Za-z0-9_-]{1,128}';

/** The host of a URL as DNS and TLS know it: an IPv6 address without brackets, a name without the final dot. */
export function bareHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

const PLAIN_SERVED_NAME = new RegExp(`^(?=.{1,${MAX_HOST_NAME}}$)${SERVED_NAME}$`);

/** Whether a website can be served under the text: a host name in ASCII and lower case, without a wildcard. */
export function isServedName(text: string): boolean {
  return PLAIN_SERVED_NAME.test(text);
}
