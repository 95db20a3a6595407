import type { Connection } from '../queries.ts';

const STANDARD_PORT = 22;

type Reached = Pick<Connection, 'host' | 'port' | 'username' | 'shell'>;

/** What to type to reach the files of an install, and its shell if there is one. */
export function connectionLines({ host, port, username, shell }: Reached): { name: string; line: string }[] {
  const at = `${username}@${host}`;
  const sftp = {
    name: 'Files (SFTP)',
    line: port === STANDARD_PORT ? `sftp ${at}` : `sftp -P ${port} ${at}`,
  };
  const ssh = { name: 'Shell (SSH)', line: port === STANDARD_PORT ? `ssh ${at}` : `ssh -p ${port} ${at}` };
  return shell ? [sftp, ssh] : [sftp];
}
