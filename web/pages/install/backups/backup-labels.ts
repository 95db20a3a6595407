import type { Backup } from '../../../api/backups.ts';
import type { FieldError } from '../../../api/failure.ts';
import type { Tone } from '../../../components/notice.tsx';

export const BACKUP_STATES: Record<Backup['status'], { word: string; tone: Tone }> = {
  requested: { word: 'Waiting', tone: 'busy' },
  in_progress: { word: 'Being made', tone: 'busy' },
  completed: { word: 'Completed', tone: 'good' },
  aborted: { word: 'Aborted', tone: 'bad' },
};

export const isBeingMade = ({ status }: Pick<Backup, 'status'>) =>
  status === 'requested' || status === 'in_progress';

/** "1 file", "1,204 files". */
export function filesInWords(files: number): string {
  return files === 1 ? '1 file' : `${files.toLocaleString('en')} files`;
}

/** Addresses as people write them: by commas, spaces or lines, each once. */
export function readAddresses(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/).filter((address) => address !== ''))];
}

/** The faults of a request with each address named; null where none is about an address. */
export function faultsOfAddresses(
  faults: readonly FieldError[],
  addresses: readonly string[],
): FieldError[] | null {
  const named = faults.map((fault): FieldError => {
    const [, index] = /^notification_emails\.(\d+)$/.exec(fault.field) ?? [];
    const address = index === undefined ? undefined : addresses[Number(index)];
    if (address === undefined) return fault;
    return { field: 'notification_emails', message: `${address} is not an e-mail address.` };
  });
  return named.some((fault, index) => fault !== faults[index]) ? named : null;
}
