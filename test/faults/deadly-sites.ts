/**
 * Names of sites at whose creation a test server kills itself, by moment. The moments are after the change and before its commit,
 * before the answer is stored, and before the answer is sent.
 */
export const DEADLY = {
  inTransaction: 'Killed in the transaction',
  beforeAnswer: 'Killed before the answer is stored',
  afterAnswer: 'Killed after the answer is stored',
} as const;
