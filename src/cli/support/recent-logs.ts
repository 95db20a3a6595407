import { open, stat } from 'node:fs/promises';
import { messageOf } from '../../lib/error-message.ts';
import { hasSystemd } from '../../lib/has-systemd.ts';
import { runCommand } from '../../lib/run-command.ts';

const LINES = 3_000;
const MOST_BYTES = 2 * 1024 * 1024;
const SERVICES = ['homeport', 'homeport-host'];
const JOURNALCTL = '/usr/bin/journalctl';

/** The end of a log, or why it cannot be read. */
export interface RecentLog {
  name: string;
  source: string;
  text: string;
}

/** The logs of the services in the journal, and of the named files. */
export async function recentLogs(files: readonly string[]): Promise<RecentLog[]> {
  const logs = hasSystemd() ? await Promise.all(SERVICES.map(ofService)) : [];
  const named = await Promise.all(files.map((file, index) => ofFile(file, index + 1)));
  return [...logs.filter(({ text }) => text !== ''), ...named];
}

async function ofService(service: string): Promise<RecentLog> {
  const args = ['--unit', `${service}.service`, '--lines', String(LINES), '--output', 'cat', '--quiet'];
  const text = await runCommand(JOURNALCTL, args, { timeoutMs: 30_000 }).then(
    ({ stdout }) => lastLines(stdout.slice(-MOST_BYTES), stdout.length > MOST_BYTES),
    (error: unknown) => `The journal cannot be read: ${messageOf(error)}\n`,
  );
  return { name: `logs/${service}.log`, source: `journal of ${service}.service`, text };
}

async function ofFile(path: string, number: number): Promise<RecentLog> {
  const name = `logs/file-${number}.log`;
  const text = await endOf(path).catch((error: unknown) => `The file cannot be read: ${messageOf(error)}\n`);
  return { name, source: path, text };
}

async function endOf(path: string): Promise<string> {
  // A pipe has no end, and opening it may wait for ever.
  if (!(await stat(path)).isFile()) return `${path} is no file. Write the log to a file first.\n`;
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const length = Math.min(size, MOST_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return lastLines(buffer.toString('utf8', 0, bytesRead), size > length);
  } finally {
    await file.close();
  }
}

/** `isCut`: the first line may lack its beginning, which could name what has to be removed. */
function lastLines(text: string, isCut: boolean): string {
  const lines = text.split('\n');
  return lines
    .slice(isCut ? 1 : 0)
    .slice(-LINES)
    .join('\n');
}
