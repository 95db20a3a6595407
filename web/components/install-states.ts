export type InstallState = 'pending' | 'active' | 'failed';

/** Labels of the statuses of an install. */
export const STATUS_LABELS: Record<InstallState, string> = {
  pending: 'Creating',
  active: 'Active',
  failed: 'Failed',
};
