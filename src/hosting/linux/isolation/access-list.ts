import { runCommand } from '../../../lib/run-command.ts';

/** Permissions of users other than the owner: `u:<uid>` → `r-x`. */
export type AccessList = Readonly<Record<string, string>>;

/**
 * Sets exactly this POSIX access list on a folder: everything for the owner, these entries, nothing for others. The change
 * is atomic. It follows links, so no folder on the path may belong to a customer.
 */
export async function allowAccess(folder: string, list: AccessList): Promise<void> {
  await runCommand('/usr/bin/setfacl', ['--set', entriesOf(list).join(','), '--', folder]);
}

/** Whether the folder has exactly this access list. */
export async function hasAccess(folder: string, list: AccessList): Promise<boolean> {
  const options = ['--access', '--numeric', '--omit-header', '--absolute-names', '--no-effective'];
  const { stdout } = await runCommand('/usr/bin/getfacl', [...options, '--', folder]);
  return sorted(stdout.split('\n')).join() === sorted(entriesOf(list)).join();
}

function entriesOf(list: AccessList): string[] {
  const named = Object.entries(list).map(([who, access]) => `${who.replace(/^u:/, 'user:')}:${access}`);
  const mask = ['r', 'w', 'x'].map((right) => (Object.values(list).join().includes(right) ? right : '-'));
  return ['user::rwx', 'group::---', `mask::${mask.join('')}`, 'other::---', ...named];
}

function sorted(entries: string[]): string[] {
  return entries.filter((entry) => entry !== '').sort();
}
