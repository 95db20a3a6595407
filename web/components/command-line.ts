import type { Connection } from '../api/installs.ts';

const STANDARD_PORT = 22;

/** Returns the command that connects to an install. */
export function commandLine(
  program: 'sftp' | 'ssh',
  { host, port, username }: Pick<Connection, 'host' | 'port' | 'username'>,
): string {
  // ssh takes -p, sftp -P.
  const option = port === STANDARD_PORT ? '' : `${program === 'ssh' ? '-p' : '-P'} ${port} `;
  const bracketed = program === 'sftp' && host.includes(':') ? `[${host}]` : host;
  return `${program} ${option}${username}@${bracketed}`;
}
