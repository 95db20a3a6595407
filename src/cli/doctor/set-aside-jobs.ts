import type { Database } from '../../database/database.ts';
import { listSetAside, type SetAsideJob } from '../../jobs/set-aside.ts';
import { type Finding, ok, problem } from './finding.ts';

const CHECK = 'set aside jobs';
const NAMED = 5;

/** Checks for jobs that are not tried again because the server died each time they ran. */
export async function checkSetAsideJobs({ reader }: Pick<Database, 'reader'>): Promise<Finding> {
  const jobs = await listSetAside(reader);
  if (jobs.length === 0) return ok(CHECK, 'None.');
  const named = jobs.slice(0, NAMED).map(nameOf).join('; ');
  const more = jobs.length > NAMED ? `; and ${jobs.length - NAMED} more` : '';
  return problem(
    CHECK,
    `The server died each time these ran, so they are not tried again: ${named}${more}.`,
    'Find the cause: the system log says how the process ended (signal, out of memory). Then run them again with "homeport job retry ID", ' +
      'or take them off the list with "homeport job drop ID". "homeport job list" shows all.',
  );
}

function nameOf({ id, kind, install, set_aside_at }: SetAsideJob): string {
  return `${kind}${install === null ? '' : ` of ${install}`} (${id}), ${set_aside_at}`;
}
