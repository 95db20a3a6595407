import { statSync } from 'node:fs';
import type { Config } from '../../config/config.ts';
import { type Finding, ok, warning } from './finding.ts';
import { OTHERS, octal } from './permissions.ts';

const CHECK = 'configuration';
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/** Checks whether the settings fit together. `file`: the file of `--config`. */
export function checkConfiguration(config: Config, file: string | undefined): Finding[] {
  const findings = [...checkFile(file), ...checkPublicUrl(config)];
  if (findings.length > 0) return findings;
  return [ok(CHECK, `Read from the environment${file === undefined ? '' : ` and ${file}`}.`)];
}

/** The file may hold passwords of the database and the mail server. */
function checkFile(file: string | undefined): Finding[] {
  const mode = file === undefined ? 0 : statSync(file).mode;
  if ((mode & OTHERS) === 0) return [];
  return [
    warning(
      CHECK,
      `All users of this machine can read ${file} (mode ${octal(mode)}), and it may hold passwords.`,
      `chmod 600 ${file}`,
    ),
  ];
}

function checkPublicUrl({ publicUrl, listen, trustProxy }: Config): Finding[] {
  const { protocol, hostname, port } = new URL(publicUrl);
  if (trustProxy.length > 0) return [];
  if (protocol === 'http:') {
    return [
      warning(
        CHECK,
        `Links begin with ${publicUrl}, but the API accepts plain HTTP from trusted proxies only, and none is set.`,
        'Set HOMEPORT_PUBLIC_URL to an https:// address, or name the proxy in HOMEPORT_TRUST_PROXY.',
      ),
    ];
  }
  const publicPort = Number(port || '443');
  if (!LOCAL_HOSTS.includes(hostname) || listen.port === 0 || publicPort === listen.port) return [];
  return [
    warning(
      CHECK,
      `Links lead to ${publicUrl}, but the API listens on port ${listen.port}.`,
      `Set HOMEPORT_PUBLIC_URL=https://${hostname}:${listen.port}, or the address that leads there.`,
    ),
  ];
}
