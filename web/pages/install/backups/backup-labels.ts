import { isRestorable } from '../../../api/backup-state.ts';
import type { Backup } from '../../../api/backups.ts';
import type { FieldError } from '../../../api/failure.ts';
import { formatTime } from '../../../components/formatted-time.ts';
import type { Tone } from '../../../components/notice.tsx';

export const BACKUP_STATES: Record<Backup['status'], { word: string; tone: Tone }> = {
  requested: { word: 'Waiting', tone: 'busy' },
  in_progress: { word: 'In progress', tone: 'busy' },
  completed: { word: 'Completed', tone: 'good' },
  aborted: { word: 'Aborted', tone: 'bad' },
};

/** The word and the tone of a backup's state. */
export const stateOf = ({ status, missing_since }: Pick<Backup, 'status' | 'missing_since'>) =>
  missing_since === null ? BACKUP_STATES[status] : ({ word: 'Missing', tone: 'bad' } as const);

export const isInProgress = ({ status }: Pick<Backup, 'status'>) =>
  status === 'requested' || status === 'in_progress';

/** Returns whether this is the only backup that can be restored; `list` is the shown page of all backups. */
export function isLastBackup(
  backup: Pick<Backup, 'id' | 'status' | 'missing_since'>,
  list:
    | { results: readonly Pick<Backup, 'id' | 'status' | 'missing_since' | 'for_copy'>[]; count: number }
    | undefined,
): boolean {
  if (!isRestorable(backup) || list === undefined || list.count > list.results.length) return false;
  return !list.results.some((other) => other.id !== backup.id && isRestorable(other) && !other.for_copy);
}

/** Returns the description of a backup as typed; without one, its date: "Backup of 21 Feb 2027, 10:00". */
export function describedBackup(typed: string, now: Date): string {
  return typed.trim() === '' ? `Backup of ${formatTime(now.toISOString())}` : typed;
}

/** Formats a count: "1 file", "1,204 files". */
export function formatFileCount(files: number): string {
  return files === 1 ? '1 file' : `${files.toLocaleString('en')} files`;
}

/** Parses addresses separated by commas, semicolons, spaces or lines, and removes duplicates. */
export function readAddresses(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/).filter((address) => address !== ''))];
}

/** Names the invalid addresses in a response's errors; null if no error concerns an address. */
export function addressErrors(
  errors: readonly FieldError[],
  addresses: readonly string[],
): FieldError[] | null {
  const named = errors.map((error): FieldError => {
    const [, index] = /^notification_emails\.(\d+)$/.exec(error.field) ?? [];
    const address = index === undefined ? undefined : addresses[Number(index)];
    if (address === undefined) return error;
    return { field: 'notification_emails', message: `${address} is not an email address.` };
  });
  return named.some((error, index) => error !== errors[index]) ? named : null;
}
