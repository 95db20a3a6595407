import { readFile } from 'node:fs/promises';
import { writeSystemFile } from './system-file.ts';

const DATABASES = ['passwd', 'group', 'shadow'];

/**
 * Has the system look for users in the files of libnss-extrausers too. True if that was not so yet. Processes that run already
 * learn of it when they are started again.
 */
export async function enableExtrausers(nsswitch = '/etc/nsswitch.conf'): Promise<boolean> {
  const before = await readFile(nsswitch, 'utf8');
  const after = DATABASES.reduce(withExtrausers, before);
  if (after === before) return false;
  await writeSystemFile(nsswitch, after, { mode: 0o644 });
  return true;
}

/** nsswitch.conf(5) with `extrausers` among the services of the database. */
export function withExtrausers(text: string, database: string): string {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => new RegExp(`^\\s*${database}\\s*:`).test(line));
  const line = lines[at];
  if (line === undefined) return `${text.replace(/[^\n]$/, '$&\n')}${database}: files extrausers\n`;
  const services = line.replace(/#.*/, '');
  if (/\bextrausers\b/.test(services)) return text;
  // Right after the system's own files: an action like [NOTFOUND=return] of a later service must not come between.
  const changed = /\s(files|compat)(?=\s|$)/.test(services)
    ? services.replace(/\s(files|compat)(?=\s|$)/, '$& extrausers')
    : services.replace(/\s*$/, ' extrausers$&');
  return lines.with(at, changed + line.slice(services.length)).join('\n');
}
