/** The few backups that were made for copies, and the few jobs that failed, which the server looks for again and again. */
export function copiesAndFailures(): string[] {
  return [
    'create index backups_for_copies on backups (seq) where copy_job_id is not null',
    "create index jobs_failed on jobs (kind, finished_at) where state = 'failed'",
  ];
}
