import { Badge, type Tone } from './notice.tsx';

export type InstallState = 'pending' | 'active' | 'failed';

/** Labels of the statuses of an install. */
export const STATUS_LABELS: Record<InstallState, string> = {
  pending: 'Creating',
  active: 'Active',
  failed: 'Failed',
};

const TONES: Record<InstallState, Tone> = { pending: 'busy', active: 'good', failed: 'bad' };

/** A badge with the status of an install. */
export function InstallStatus({ status }: { status: InstallState }) {
  return <Badge tone={TONES[status]}>{STATUS_LABELS[status]}</Badge>;
}
