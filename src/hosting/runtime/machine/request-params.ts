import { lstatSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Params } from '../../../lib/fastcgi.ts';
import { isClosedProgram } from '../../policy/closed-programs.ts';
import type { PhpRequest, PhpSite } from '../wasm/php-sites.ts';
import { scriptFor } from '../wasm/process/script-path.ts';
import { CORE_FOLDERS } from './document-root.ts';

const ROOT = '/wordpress';
/** Names of the connection between the visitor and the edge. `proxy` would become HTTP_PROXY. */
const DROPPED = new Set([
  ...['connection', 'content-length', 'content-type', 'expect', 'host', 'keep-alive', 'proxy'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

/** The parameters of a visitor's request in FastCGI (RFC 3875). `target`: its path and query in ASCII. */
export function requestParams(
  site: Pick<PhpSite, 'core' | 'website'>,
  { method, headers, https, clientAddress, host, target }: Omit<PhpRequest, 'body'>,
): Params {
  const [path = '/', ...query] = target.split('?');
  const { script, rest } = scriptFor(path, {
    isFile: (at) => kindOf(site, at) === 'file',
    isFolder: (at) => kindOf(site, at) === 'folder',
    isClosed: isClosedProgram,
  });
  const [, name = '', port] = /^(.*?)(?::(\d+))?$/.exec(host) ?? [];
  const contentType = headers['content-type'];
  return {
    ...headerParams(headers),
    HTTP_HOST: host,
    ...(contentType === undefined ? {} : { CONTENT_TYPE: String(contentType) }),
    // Plugins take any value for HTTPS.
    ...(https ? { HTTPS: 'on' } : {}),
    ...(rest === '' ? {} : { PATH_INFO: rest }),
    DOCUMENT_ROOT: ROOT,
    SCRIPT_FILENAME: ROOT + script,
    SCRIPT_NAME: script,
    REQUEST_METHOD: method,
    REQUEST_URI: target,
    QUERY_STRING: query.join('?'),
    REMOTE_ADDR: clientAddress,
    REQUEST_SCHEME: https ? 'https' : 'http',
    SERVER_NAME: name,
    SERVER_PORT: port ?? (https ? '443' : '80'),
    SERVER_PROTOCOL: 'HTTP/1.1',
    SERVER_SOFTWARE: 'Homeport',
    GATEWAY_INTERFACE: 'CGI/1.1',
  };
}

function headerParams(headers: PhpRequest['headers']): Params {
  const params: Record<string, Buffer> = {};
  for (const [name, value] of Object.entries(headers)) {
    // An underscore would make a second spelling of a name that the edge has checked.
    if (value === undefined || DROPPED.has(name) || name.includes('_')) continue;
    const key = `HTTP_${name.toUpperCase().replaceAll('-', '_')}`;
    const text = typeof value === 'string' ? value : value.join(name === 'cookie' ? '; ' : ', ');
    // A character for each byte that the visitor has sent.
    params[key] = Buffer.from(text, 'latin1');
  }
  return params;
}

/** The kind of entry that PHP sees at a path below its document root. */
function kindOf(
  { core, website }: Pick<PhpSite, 'core' | 'website'>,
  path: string,
): 'file' | 'folder' | null {
  const below = path.slice(ROOT.length);
  const [, first = ''] = below.split('/');
  if (CORE_FOLDERS.has(first)) return kindAt(join(core, below));
  return kindAt(join(website, below)) ?? (first === below.slice(1) ? kindAt(join(core, below)) : null);
}

function kindAt(path: string): 'file' | 'folder' | null {
  // The website's links lead elsewhere in the sandbox.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== false) return null;
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  return stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : null;
}
