import { type InstallState, STATUS_LABELS } from './install-states.ts';
import { Badge, type Tone } from './notice.tsx';

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
