import type { Update } from '../../../api/updates.ts';
import type { Tone } from '../../../components/notice.tsx';

const STATES: Record<Update['status'], { word: string; tone: Tone }> = {
  requested: { word: 'Waiting', tone: 'busy' },
  running: { word: 'In progress', tone: 'busy' },
  succeeded: { word: 'Done', tone: 'good' },
  unnecessary: { word: 'Up to date', tone: 'plain' },
  rolled_back: { word: 'Rolled back', tone: 'bad' },
  failed: { word: 'Failed', tone: 'bad' },
  cancelled: { word: 'Cancelled', tone: 'plain' },
};

/** Returns the label of an update's state. */
export function updateState({ status }: Pick<Update, 'status'>): { word: string; tone: Tone } {
  return STATES[status];
}

/** Returns a sentence of the update's outcome; null without one. */
export function updateOutcome({
  status,
  updates,
  reason,
  restored,
}: Pick<Update, 'status' | 'updates' | 'reason' | 'restored'>): string | null {
  const made = updates.map(({ name, from, to }) => `${name} ${from} → ${to}`).join(', ');
  const told = reason ?? (made === '' ? null : made);
  // A rollback says so anyway.
  if (!restored || status === 'rolled_back') return told;
  const lost = 'The checkpoint was restored; what visitors wrote after it is lost.';
  return told === null ? lost : `${told.replace(/\.$/, '')}. ${lost}`;
}
