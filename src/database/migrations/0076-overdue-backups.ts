/** The few backups that users have deleted, and checkpoints by their age: the server looks for what it can discard again and again. */
export function overdueBackups(): string[] {
  return [
    'create index backups_deleting on backups (seq) where deleting = true',
    'create index backups_checkpoints on backups (created_at) where checkpoint = true',
  ];
}
