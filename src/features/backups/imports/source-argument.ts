import { SITE_PATTERN, SSH_PATTERNS } from '../../../hosting/contract/imports.ts';
import { InvalidRequest } from '../../../lib/failures.ts';
import { readSource, SSH_PORT, type WantedSource } from './source.ts';

const EXAMPLE = 'ssh://user@host/path';

/**
 * Reads the source of an import in the form of the command line: a path, a URL with `https`, or `ssh://user@host:port/path`. After
 * `/~/`, the path begins in the home of the user, as in Git. `site`: the website of an archive with several. Throws InvalidRequest.
 */
export function readSourceArgument(
  argument: string,
  { hostKey, site }: { hostKey?: string | undefined; site?: string | undefined } = {},
): WantedSource {
  if (argument.startsWith('ssh://')) {
    if (site !== undefined) throw new InvalidRequest('--site needs an archive as the source.');
    return readSsh(argument, hostKey);
  }
  if (hostKey !== undefined) throw new InvalidRequest(`--host-key needs a source such as ${EXAMPLE}.`);
  if (site !== undefined && !new RegExp(SITE_PATTERN, 'u').test(site)) {
    throw new InvalidRequest('--site must name a website of the archive, by its domain or folder.');
  }
  const chosen = site === undefined ? {} : { site };
  return readSource(
    argument.startsWith('https://')
      ? { source: 'url', url: argument, ...chosen }
      : { source: 'file', path: argument, ...chosen },
  );
}

function readSsh(argument: string, hostKey: string | undefined): WantedSource {
  const url = URL.parse(argument);
  if (url === null || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new InvalidRequest(`The source must look like ${EXAMPLE}, without a password.`);
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const user = decoded(url.username);
  const path = decoded(url.pathname).replace(/^\/~\/(?=.)/, '');
  for (const [name, value, pattern] of [
    ['host', host, SSH_PATTERNS.host],
    ['user', user, SSH_PATTERNS.user],
    ['path', path, SSH_PATTERNS.path],
    ['host key', hostKey ?? `SHA256:${'A'.repeat(43)}`, SSH_PATTERNS.hostKey],
  ] as const) {
    if (!new RegExp(pattern, 'u').test(value)) {
      throw new InvalidRequest(
        `The ${name} of the source is missing or wrong; it must look like ${EXAMPLE}.`,
      );
    }
  }
  const port = url.port === '' ? SSH_PORT : Number(url.port);
  const key = hostKey === undefined ? {} : { host_key: hostKey };
  return readSource({ source: 'ssh', host, port, user, path, ...key });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new InvalidRequest(`The source has a wrong percent sign; it must look like ${EXAMPLE}.`);
  }
}
