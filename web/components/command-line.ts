import type { Connection } from '../api/installs.ts';

const STANDARD_PORT = 22;

/** What to type to get in. */
export function commandLine(
  program: 'sftp' | 'ssh',
  { host, port, username }: Pick<Connection, 'host' | 'port' | 'username'>,
): string {
  // ssh takes -p, sftp -P.
  const option = port === STANDARD_PORT ? '' : `${program === 'ssh' ? '-p' : '-P'} ${port} `;
  const bracketed = program === 'sftp' && host.includes(':') ? `[${host}]` : host;
  return `${program} ${option}${username}@${bracketed}`;
}
