import type { Tone } from '../../../components/notice.tsx';
import type { Backup } from '../queries.ts';

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
