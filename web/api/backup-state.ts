/** Whether a backup is complete and its storage still has it. */
export function isRestorable({
  status,
  missing_since,
}: {
  status: string;
  missing_since: string | null;
}): boolean {
  return status === 'completed' && missing_since === null;
}
