/** A request that tells who one is, to try a new credential with; `base`: where the portal lies, and so the API. */
export function curlLine(
  base: string,
  { username, password }: { username: string; password: string },
): string {
  return `curl -u ${quoted(`${username}:${password}`)} ${quoted(new URL('v1/user', base).href)}`;
}

/** Whether the server may show a certificate that it has made for itself. */
export function isLocal(base: string): boolean {
  const { hostname } = new URL(base);
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/** As a shell takes it for one word; bare where it is one anyway, so that it works in every shell. */
const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
