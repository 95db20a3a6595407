import { join } from 'node:path';
import { askFastcgi } from '../../../lib/fastcgi.ts';
import type { InstallState } from '../../contract/install-state.ts';
import type { LinuxLayout } from '../machine/layout.ts';

const TIMEOUT_MS = 20_000;
const HTTP_PORT = 80;

/**
 * Requests a website's home page from PHP as the web server at `edge` would, so that its code is compiled before the first
 * visitor comes. Rejects if PHP does not answer; the answer itself is not checked.
 */
export async function warmUp(
  layout: LinuxLayout,
  { id, primaryHostname }: Pick<InstallState, 'id' | 'primaryHostname'>,
  edge: { host: string; port: number },
): Promise<void> {
  const params = homePageParams(layout.htdocsOf(id), primaryHostname, edge);
  await askFastcgi(layout.phpSocketOf(id), params, { timeoutMs: TIMEOUT_MS });
}

/** FastCGI parameters as nginx sends them for the home page (nginx/render-main.ts). */
function homePageParams(
  htdocs: string,
  hostname: string,
  { host, port }: { host: string; port: number },
): Record<string, string> {
  return {
    QUERY_STRING: '',
    REQUEST_METHOD: 'GET',
    CONTENT_TYPE: '',
    SCRIPT_NAME: '/index.php',
    SCRIPT_FILENAME: join(htdocs, 'index.php'),
    REQUEST_URI: '/',
    DOCUMENT_URI: '/index.php',
    DOCUMENT_ROOT: htdocs,
    SERVER_PROTOCOL: 'HTTP/1.1',
    REQUEST_SCHEME: 'http',
    GATEWAY_INTERFACE: 'CGI/1.1',
    SERVER_SOFTWARE: 'nginx',
    REMOTE_ADDR: host,
    REMOTE_PORT: '0',
    SERVER_ADDR: host,
    SERVER_PORT: `${port}`,
    SERVER_NAME: hostname,
    REDIRECT_STATUS: '200',
    HTTP_HOST: port === HTTP_PORT ? hostname : `${hostname}:${port}`,
  };
}
