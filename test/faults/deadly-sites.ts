/**
 * Names of sites at whose creation a test server kills itself, by moment: after the change and before the commit, before the answer is
 * stored, and before the answer is sent.
 */
export const DEADLY = {
  inTransaction: 'Killed in the transaction',
  beforeAnswer: 'Killed before the answer is stored',
  afterCommit: 'Killed after the commit',
} as const;

/** Whether the change of a request killed at this moment was committed. */
export function isCommittedAt(moment: string): boolean {
  return moment === 'afterCommit';
}
