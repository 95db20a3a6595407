/**
 * A request that tells who one is, to try a new credential with; `base`: where the portal lies, and so the API. `certificate`: the file
 * of the server's, where curl does not know it.
 */
export function curlLine(
  base: string,
  { username, password }: { username: string; password: string },
  certificate: string | null,
): string {
  const trust = certificate === null ? '' : `--cacert ${quoted(certificate)} `;
  return `curl ${trust}-u ${quoted(`${username}:${password}`)} ${quoted(new URL('v1/user', base).href)}`;
}

/** As a shell takes it for one word; bare where it is one anyway, so that it works in every shell. */
const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
