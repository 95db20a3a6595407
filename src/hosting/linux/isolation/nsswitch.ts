import { readFile } from 'node:fs/promises';
import { writeSystemFile } from './system-file.ts';

const DATABASES = ['passwd', 'group', 'shadow'];

/**
 * Makes the system look up users in the files of libnss-extrausers too. True if it did not before. Running processes see
 * the change only after a restart.
 */
export async function enableExtrausers(nsswitch = '/etc/nsswitch.conf'): Promise<boolean> {
  const before = await readFile(nsswitch, 'utf8');
  const after = DATABASES.reduce(withExtrausers, before);
  if (after === before) return false;
  await writeSystemFile(nsswitch, after, { mode: 0o644 });
  return true;
}

/** Adds `extrausers` to the services of a database in nsswitch.conf(5). */
export function withExtrausers(text: string, database: string): string {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => new RegExp(`^\\s*${database}\\s*:`).test(line));
  const line = lines[at];
  if (line === undefined) return `${text.replace(/[^\n]$/, '$&\n')}${database}: files extrausers\n`;
  const services = line.replace(/#.*/, '');
  if (/\bextrausers\b/.test(services)) return text;
  // Directly after the system's own files, so that an action of a later service ([NOTFOUND=return]) does not skip it.
  const changed = /\s(files|compat)(?=\s|$)/.test(services)
    ? services.replace(/\s(files|compat)(?=\s|$)/, '$& extrausers')
    : services.replace(/\s*$/, ' extrausers$&');
  return lines.with(at, changed + line.slice(services.length)).join('\n');
}
