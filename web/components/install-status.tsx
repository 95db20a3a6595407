import { Badge, type Tone } from './notice.tsx';

export type InstallState = 'pending' | 'active' | 'failed';

/** What a person reads for the status of an install. */
export const STATUS_LABELS: Record<InstallState, string> = {
  pending: 'Being made',
  active: 'Active',
  failed: 'Failed',
};

const TONES: Record<InstallState, Tone> = { pending: 'busy', active: 'good', failed: 'bad' };

/** The status of an install, in a word and a colour. */
export function InstallStatus({ status }: { status: InstallState }) {
  return <Badge tone={TONES[status]}>{STATUS_LABELS[status]}</Badge>;
}
