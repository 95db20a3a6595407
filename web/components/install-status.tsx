import { Badge, type Tone } from './notice.tsx';

export type InstallState = 'pending' | 'active' | 'failed';

/** Labels of the statuses of an install. */
export const STATUS_LABELS: Record<InstallState, string> = {
  pending: 'Creating',
  active: 'Active',
  failed: 'Failed',
};

const TONES: Record<InstallState, Tone> = { pending: 'busy', active: 'good', failed: 'bad' };

/** A badge with the status of an install. An active one may need attention. */
export function InstallStatus({
  status,
  needsAttention = false,
}: {
  status: InstallState;
  needsAttention?: boolean;
}) {
  if (needsAttention && status === 'active') return <Badge tone="bad">Needs attention</Badge>;
  return <Badge tone={TONES[status]}>{STATUS_LABELS[status]}</Badge>;
}
