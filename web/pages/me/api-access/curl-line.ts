/**
 * Returns a curl command that tries a credential. `base` is the portal's URL. `certificate` names the file with the
 * server's certificate if curl does not trust it; otherwise null.
 */
export function curlLine(
  base: string,
  { username, password }: { username: string; password: string },
  certificate: string | null,
): string {
  const trust = certificate === null ? '' : `--cacert ${quoted(certificate)} `;
  return `curl ${trust}-u ${quoted(`${username}:${password}`)} ${quoted(new URL('v1/user', base).href)}`;
}

/** Quotes a text for POSIX shells. Safe texts stay unquoted, so that they work in every shell. */
const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
