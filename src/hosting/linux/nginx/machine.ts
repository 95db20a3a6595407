import { access, readFile } from 'node:fs/promises';
import { hasCode } from '../../../lib/error-code.ts';
import { runCommand } from '../../../lib/run-command.ts';

/** The machine's trusted root certificates in PEM, from Debian's package ca-certificates. */
const MACHINE_ROOTS = '/etc/ssl/certs/ca-certificates.crt';
const MOST_OPEN_FILES = 65_536;

/** Maximum of open files per process, limited by this process's own; more than 65,536 are not needed. */
export async function mostOpenFiles(): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'utf8');
  const hard = Number(/^Max open files\s+\S+\s+(\d+)/m.exec(limits)?.[1] ?? MOST_OPEN_FILES);
  return Math.min(hard, MOST_OPEN_FILES);
}

/** The file of root certificates, the machine's by default; null if it is missing. */
export async function trustedRoots(given: string | undefined): Promise<string | null> {
  const file = given ?? MACHINE_ROOTS;
  try {
    await access(file);
    return file;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** Number of a Unix group, from getent(1). */
export async function groupId(name: string): Promise<number> {
  const { stdout } = await runCommand('/usr/bin/getent', ['group', name]);
  const [, , gid = ''] = stdout.split(':');
  if (!/^\d+$/.test(gid)) throw new Error(`getent does not tell the number of the group ${name}`);
  return Number(gid);
}
