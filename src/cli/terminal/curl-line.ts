import { showsOwnCertificate } from '../../api/api-certificate.ts';
import { API_PREFIX } from '../../api/prefixes.ts';
import { certificateFileForClients } from '../../api/public-certificate.ts';
import type { Config } from '../../config/config.ts';
import type { IssuedCredential } from '../../features/identity/credentials/service.ts';

/** A POSIX shell command that requests the user of these credentials. */
export function curlLine(
  config: Pick<Config, 'publicUrl' | 'tlsCert' | 'trustProxy' | 'dataDir'>,
  { username, password }: IssuedCredential,
): string {
  return `curl ${certificateOption(config)}-u ${quoted(`${username}:${password}`)} ${quoted(`${config.publicUrl}${API_PREFIX}/user`)}`;
}

/** curl needs the certificate only if it is Homeport's own. */
function certificateOption(config: Parameters<typeof curlLine>[0]): string {
  return showsOwnCertificate(config) ? `--cacert ${quoted(certificateFileForClients(config.dataDir))} ` : '';
}

/** One word for the shell, whatever is in it. Plain words stay as they are. */
function quoted(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
