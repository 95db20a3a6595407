import { statSync } from 'node:fs';
import type { Config } from '../../config/config.ts';
import { type Finding, ok, warning } from './finding.ts';
import { OTHERS, octal } from './permissions.ts';

const CHECK = 'configuration';
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/** Whether settings that could be read also fit each other. `file` is that of `--config`. */
export function checkConfiguration(config: Config, file: string | undefined): Finding[] {
  const findings = [...checkFile(file), ...checkPublicUrl(config)];
  if (findings.length > 0) return findings;
  return [ok(CHECK, `Read from the environment${file === undefined ? '' : ` and ${file}`}.`)];
}

/** It may hold the passwords of the database and of the mail server. */
function checkFile(file: string | undefined): Finding[] {
  const mode = file === undefined ? 0 : statSync(file).mode;
  if ((mode & OTHERS) === 0) return [];
  return [
    warning(
      CHECK,
      `Everybody on this machine can read ${file} (mode ${octal(mode)}), and it may hold passwords.`,
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
        `Links begin with ${publicUrl}, but the API takes plain HTTP from trusted proxies only, and there is none.`,
        'Let HOMEPORT_PUBLIC_URL begin with https://, or name the proxy in HOMEPORT_TRUST_PROXY.',
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
